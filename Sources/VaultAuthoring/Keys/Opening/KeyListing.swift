public import SealedPack
import SystemPackage
public import UpdateFramework
public import VaultBase
public import VaultCrypto
import VaultFileSystem
public import VaultSite

/// The vault keys of a vault and of the site that it publishes: for whom they are, since when, and what they open.
public struct KeyListing: Sendable {
    public enum State: String, Sendable {
        /// Packs are sealed for it.
        case current
        /// Packs are sealed for it and for the key that replaces it.
        case replaced
        /// Packs are never sealed for it again.
        case retired
        /// Its file is here, and no audience has it.
        case unused
        /// Listed packs have slots for it, and it is not here.
        case absent
    }

    public struct Key: Sendable {
        public let id: KeyID
        public let state: State
        /// The audiences that it is of; empty for the vault's own, and for one that is not here.
        public let audiences: [String]
        public let isOwn: Bool
        /// The publication time of the earliest kept metadata that has a slot for this key; nil if none records it.
        public let since: UTCTime?
        /// What has a slot for it.
        public let opens: [ChannelPacks]
    }

    /// The listed packs of one channel that a key opens.
    public struct ChannelPacks: Sendable {
        public let channel: Channel
        /// As they are shown to people.
        public let packs: [PackID]
        /// Of all packs that the channel lists.
        public let total: Int
    }

    /// The vault's own first, then by audience and ID.
    public let keys: [Key]
    /// The key files that can't be read, whose keys have no line unless packs have slots for them.
    public let warnings: [Finding]

    public init(of vault: VaultFolder, _ request: AuthorRequest) async throws(VaultError) {
        (keys, warnings) = try await vault.withSession(request) { session async throws(VaultError) in
            try await session.listedKeys()
        }
    }
}

extension AuthorSession {
    fileprivate func listedKeys() async throws(VaultError) -> (keys: [KeyListing.Key], warnings: [Finding]) {
        var owners: [KeyID: [String?]] = [:]
        var warnings: [Finding] = []
        for owner in settings.audiences.owners {
            do throws(VaultError) {
                for id in try await listedIDs(of: owner) { owners[id, default: []].append(owner) }
            } catch { warnings.append(.unreadKeys("the keys of \(Audiences.words(for: owner))", error)) }
        }
        let listed = try listedVersions()
        let names = try await PackPublisher(for: self).names(of: listed.map(\.pack))
        let slots = Set(listed.flatMap(\.pack.slots).map(\.keyID))
        let replaced = Set(settings.audiences.replaced.map(\.id))
        // Those that are being replaced are listed as keys of their audiences.
        var files: Set<KeyID> = []
        for id in try vault.singleKeyIDs().subtracting(replaced) {
            do throws(VaultError) {
                if try vault.keys(in: vault.key(id)).ring().ids == [id] { files.insert(id) }
            } catch { warnings.append(.unreadKeys("the key '\(id)'", error)) }
        }
        let since = try await firstTimes()
        let keys = Set(owners.keys).union(slots).union(files).union(retiredKeys.ids).map { id in
            let all = owners[id] ?? []
            let state: KeyListing.State =
                if retiredKeys.ids.contains(id) { .retired } else if replaced.contains(id) {
                    .replaced
                } else if !all.isEmpty { .current } else if files.contains(id) { .unused } else { .absent }
            return KeyListing.Key(
                id: id, state: state, audiences: all.compactMap(\.self), isOwn: all.contains(nil),
                since: since[id], opens: Self.opened(by: id, among: listed, naming: names))
        }.sorted {
            ($0.isOwn ? 0 : 1, $0.audiences.first ?? "\u{FF}", $0.id.description)
                < ($1.isOwn ? 0 : 1, $1.audiences.first ?? "\u{FF}", $1.id.description)
        }
        return (keys, warnings)
    }

    /// The IDs of an audience's keys; none of a source that would be asked for each key.
    private func listedIDs(of owner: String?) async throws(VaultError) -> [KeyID] {
        let source =
            try owner.map { name throws(VaultError) in try settings.audiences.keys(of: [name]) }
            ?? settings.audiences.completing(vaultKeys, of: nil)
        if let ids = await source.knownKeyIDs() { return ids }
        return settings.audiences.file(of: owner) == nil ? [] : try await source.allKeys().ids
    }

    private static func opened(
        by key: KeyID, among listed: [ListedVersion], naming names: PackNames
    ) -> [KeyListing.ChannelPacks] {
        let byChannel = Dictionary(grouping: listed.filter { !$0.pack.isNamesTable }, by: \.channel)
        return byChannel.sorted { $0.key.name < $1.key.name }.map { channel, listed in
            let packs = listed.filter { $0.pack.slots.contains { $0.keyID == key } }.map(\.pack.id)
            return KeyListing.ChannelPacks(
                channel: channel, packs: Set(packs).map { names.shownID(of: $0) }.sorted(),
                total: Set(listed.map(\.pack.id)).count)
        }
    }

    /// See ``KeyListing/Key/since``.
    private func firstTimes() async throws(VaultError) -> [KeyID: UTCTime] {
        guard case .site = published else { return [:] }
        var files: [KeyID: Set<MetadataFileName>] = [:]
        try await PackHistory(of: self).forEachPack { file, pack in
            for slot in pack.slots { files[slot.keyID, default: []].insert(file) }
        }
        let times = try PublicationTimes(in: MetadataFolder(vault.metadata))
        return files.compactMapValues { files in files.compactMap { times[exactly: $0] }.min() }
    }
}

extension VaultFolder {
    /// The keys that files of their own are named after (``key(_:)``).
    fileprivate func singleKeyIDs() throws(VaultError) -> Set<KeyID> {
        guard try FileSystem.exists(replacedKeys) else { return [] }
        let names = try Folder(opening: replacedKeys).names().map { String(decoding: $0, as: UTF8.self) }
        return Set(
            names.filter { $0.hasSuffix(".jwks") }.compactMap { name in try? KeyID(String(name.dropLast(5))) }
        )
    }
}

extension Finding {
    fileprivate static func unreadKeys(_ what: String, _ error: VaultError) -> Finding {
        .warning(
            "unread-keys", "\(what) can't be listed: \(error.place): \(error.problem)", at: error.place,
            remedy: error.remedy, hint: error.hint)
    }
}
