public import SealedPack
import UpdateFramework
import VaultBase
public import VaultCrypto
public import VaultSite

/// What a vault key that goes out of use still opens of what a site lists, and what it opens no longer.
public struct KeyExposure: Sendable {
    public enum Access: String, Sendable {
        /// The listing has a slot for the key.
        case listed
        /// Earlier metadata has one, for the same content key: who kept the metadata, or gets it from the host, opens the pack.
        case earlier
        /// No kept metadata has a slot for it. Metadata that `prune` removed may have had one.
        case none
    }

    public struct Pack: Sendable, Hashable {
        public let channel: Channel
        /// As it is listed.
        public let id: PackID
        /// What an opaque ID stands for.
        public let name: PackID?
        public let version: UInt64
        /// The team that lists it; nil for the vault's own.
        public let team: String?
        public let access: Access
    }

    public let key: KeyID
    /// All versions that the site lists, by channel and ID.
    public let packs: [Pack]

    public func packs(_ access: Access) -> [Pack] { packs.filter { $0.access == access } }
}

extension AuthorSession {
    /// What some keys open, in the order of their IDs.
    ///
    /// - Parameters:
    ///   - next: what will be listed.
    ///   - names: of opaque IDs.
    func exposures(
        of keys: Set<KeyID>, after next: [ListedVersion], naming names: PackNames
    ) async throws(VaultError) -> [KeyExposure] {
        guard !keys.isEmpty else { return [] }
        try await host?.readWholeHistory(of: Set(next.map(\.pack.id)))
        // The content keys that each of them has unwrapped.
        var known: [KeyID: Set<ContentKeyID>] = [:]
        func note(_ pack: PackManifest) {
            for slot in pack.slots where keys.contains(slot.keyID) {
                known[slot.keyID, default: []].insert(pack.contentKeyID)
            }
        }
        for listed in try listedVersions() { note(listed.pack) }
        let history = try await PackHistory(of: self)
        try history.forEachPack { _, pack in note(pack) }
        try history.forEachPackOfTeams(note)
        return keys.sorted { $0.description < $1.description }.map { key in
            let packs = next.map { listed in
                let isListed = listed.pack.slots.contains { $0.keyID == key }
                let wasOpen = known[key]?.contains(listed.pack.contentKeyID) ?? false
                return KeyExposure.Pack(
                    channel: listed.channel, id: listed.pack.id, name: names[listed: listed.pack.id]?.name,
                    version: listed.pack.version, team: listed.team,
                    access: isListed ? .listed : wasOpen ? .earlier : .none)
            }
            return KeyExposure(
                key: key,
                packs: packs.sorted {
                    ($0.channel.name, $0.id, $1.version) < ($1.channel.name, $1.id, $0.version)
                })
        }
    }
}
