import SealedPack
import StrictJSON
import UpdateFramework
import VaultErrors
import VaultSite

extension VerifiedTargets {
    /// Bytes of members that this release does not know, of the signed part or of one version of a pack: room for what later
    /// releases add. Every client downloads and keeps them.
    private static let unknownLimit = 64 << 10

    private static let knownMembers = [
        "_type", "spec_version", "version", "expires", "targets", "delegations", MetadataDraft.roleMember,
    ]

    /// Throws `untrusted` for large members that are nothing which a team may list.
    func requireKnownMembers(at place: String) throws(VaultError) {
        var unknown = json
        for name in Self.knownMembers { unknown[name] = nil }
        if (try? GivenVersions.recorded(in: document)) != nil { unknown[GivenVersions.member] = nil }
        try Self.require(unknown.byteCount, atMost: Self.unknownLimit, of: "its signed part", at: place)
        for record in records {
            let known = (try? ListedPack(record)).flatMap {
                try? ListedPack($0.pack, otherVersions: $0.otherVersions)
            }
            try Self.require(
                record.json.byteCount - (known?.target.json.byteCount ?? 0),
                atMost: Self.unknownLimit * record.eachVersion.count, of: record.path, at: place)
        }
    }

    private static func require(
        _ count: Int, atMost limit: Int, of part: String, at place: String
    ) throws(VaultError) {
        guard count > limit else { return }
        throw VaultError(
            .untrusted, "\(part.excerpt) has \(count) bytes of unknown members, more than \(limit)",
            at: place,
            remedy: "let the team publish again without them")
    }
}

extension JSONObject {
    fileprivate var byteCount: Int { JSONValue.object(self).canonical().count }
}
