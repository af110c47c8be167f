import VaultBase
import VaultCrypto

@testable import UpdateFramework

extension Repository {
    func draft(_ role: MetadataRole) throws -> MetadataDraft {
        let version = versions[role] ?? 1
        let expires = expiries[role] ?? MetadataLifetime().expiry(of: role, signedAt: Self.now)
        switch role.topLevel {
        case .root:
            let roles = TopLevelRole.allCases.map { ($0, trust(in: MetadataRole($0))) }
            let draft = try MetadataDraft.root(
                version: version, expires: expires, roles: Dictionary(uniqueKeysWithValues: roles))
            return usesConsistentSnapshots ? draft : try draft.without("consistent_snapshot")
        case .snapshot:
            let listed = versions.keys.filter { $0.type == .targets && !unlisted.contains($0) }
            let references = listed.map { ($0, reference($0)) }
            return try .snapshot(
                version: version, expires: expires, listing: Dictionary(uniqueKeysWithValues: references))
        case .timestamp:
            return try .timestamp(
                version: version, expires: expires, snapshot: reference(.snapshot),
                keepingMembersOf: ["x-note": "kept"])
        case .targets, nil:
            return try .targets(
                role, version: version, expires: expires, records: listings[role] ?? [],
                delegations: delegations(of: role))
        }
    }

    func trust(in role: MetadataRole) -> RoleTrust {
        RoleTrust((keys[role] ?? []).map { $0.publicKey }, threshold: thresholds[role] ?? 1)
    }

    /// Signs any signed part, valid or not.
    func sign(_ signed: JSONObject, by signers: [SigningKey], aliases: [String] = []) throws -> [UInt8] {
        let message = JSONValue.object(signed).canonical()
        let names =
            signers.map { ($0.id, $0) } + aliases.compactMap { name in signers.first.map { (name, $0) } }
        let signatures = names.map { name, signer -> JSONValue in
            ["keyid": .string(name), "sig": .string(signer.sign(message).hexadecimal)]
        }
        return JSONValue.object(["signatures": .array(signatures), "signed": .object(signed)]).pretty()
    }
}

extension MetadataDraft {
    fileprivate func without(_ member: String) throws -> MetadataDraft {
        var signed = signed
        signed[member] = nil
        let bytes = JSONValue.object(["signatures": [], "signed": .object(signed)]).pretty()
        return MetadataDraft(try UnverifiedMetadata(parsing: bytes, as: role, place: "draft").document)
    }
}

extension [UInt8] {
    var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
