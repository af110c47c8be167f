import UpdateFramework
import VaultCrypto
import VaultSite

extension TrustSummary: Report {
    var columns: [Column<Self>] {
        [
            .table("roles", Role.columns) { $0.roles },
            .texts("warnings") { $0.warnings.map(\.worded) },
        ]
    }
}

extension TrustSummary.Role {
    fileprivate static var columns: [Column<Self>] {
        [
            .text("role") { $0.role.name }, .words { "\($0.role)" },
            .number("version", "version %") { $0.version },
            .text("expires", "expires %") { $0.expires },
            .number("daysLeft") { $0.daysLeft }, .words(", % days left") { "\(max(0, $0.daysLeft))" },
            .flag("isDue") { $0.isDue }, .number("threshold", "%") { $0.trust.threshold },
            .words(" of % keys") { "\($0.trust.keys.count)" },
            .table("keys", [.text("id", "  %") { $0.id }, .text("kind", "%") { $0.key.kind }]) {
                $0.trust.keys
            },
            .texts("grantedTags") { $0.grantedTags },
            .lines { role in
                guard let tags = role.grantedTags else { return [] }
                return ["  tags: \(tags.isEmpty ? "none" : tags.joined(separator: ", "))"]
            },
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
