import StrictJSON
import UpdateFramework
import VaultCrypto
import VaultSite

extension TrustSummary: Report {
    var lines: [String] {
        roles.flatMap { role in
            [
                "\(role.role)  version \(role.version)  expires \(role.expires), \(max(0, role.daysLeft)) days left  \(role.trust.threshold) of \(role.trust.keys.count) keys"
            ] + role.trust.keys.map { "  \($0.id)  \($0.key.kind)" }
                + (role.grantedTags.map { ["  tags: \($0.isEmpty ? "none" : $0.joined(separator: ", "))"] }
                    ?? [])
        }
    }

    var json: JSONObject {
        [
            "roles": .objects(roles) { role in
                var json: JSONObject = [
                    "role": .string(role.role.name), "version": .number(role.version),
                    "expires": "\(role.expires)", "daysLeft": .number(role.daysLeft),
                    "isDue": .bool(role.isDue), "threshold": .number(role.trust.threshold),
                    "keys": .objects(role.trust.keys) { ["id": "\($0.id)", "kind": .string($0.key.kind)] },
                ]
                json["grantedTags"] = role.grantedTags.map { .texts($0) }
                return json
            }, "warnings": .texts(warnings.map(\.worded)),
        ]
    }
}

extension VerifyingKey {
    fileprivate var kind: String {
        switch scheme {
        case .ed25519: "Ed25519"
        case .ecdsaP256SHA256: "ECDSA P-256"
        case .rsaPSSSHA256: "RSA-PSS"
        }
    }
}
