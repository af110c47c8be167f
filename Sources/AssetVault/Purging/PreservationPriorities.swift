import SealedPack
import SystemPackage
public import VaultBase
import VaultFileSystem

/// How long packs stay when disk space is needed, by tag: what the app has set, else what the site lists.
struct PreservationPriorities {
    private var chosen: [String: Double] = [:]
    /// What the site lists for the tags, read only where the app has set something.
    private var listed = ListedPreservation()
    /// Why the file can't be read: then the app has set nothing, and what it sets next replaces the file.
    private(set) var damage: VaultError?

    private static let limit = 1 << 20

    /// What the app has set.
    init(of layout: StoreLayout) throws(VaultError) {
        do throws(VaultError) { chosen = try Self.read(layout.preservation) } catch {
            guard [.corrupt, .missing].contains(error.category) else { throw error }
            if error.category == .corrupt { damage = error }
        }
    }

    /// The priorities that count in a store.
    init(of store: StoreAccess, choosing choice: ClientChoice = .none) async throws(VaultError) {
        try self.init(of: store.layout)
        if !chosen.isEmpty {
            listed = try await ListedPreservation(of: StoredSite(store: store, choice: choice))
        }
    }

    private static func read(_ path: FilePath) throws(VaultError) -> [String: Double] {
        let bytes = try DurableFile.read(path, limit: limit)
        let json = try JSONValue(parsing: bytes.span, place: path.string).asObject(at: path.string)
        var chosen: [String: Double] = [:]
        for (tag, value) in json {
            guard case .string(let text) = value, let priority = Double(text), (0...1).contains(priority)
            else {
                throw VaultError(
                    .corrupt, "'\(tag.excerpt)' has no priority from 0 to 1", at: path.string,
                    remedy: "set the priorities again")
            }
            chosen[tag] = priority
        }
        return chosen
    }

    subscript(tag: String) -> Double? { chosen[tag] }

    mutating func choose(_ priority: Double, for tags: Set<String>) {
        for tag in tags { chosen[tag] = priority }
    }

    func save(in layout: StoreLayout) throws(VaultError) {
        // Strict JSON has no fractions.
        let json = JSONObject(lastWins: chosen.map { ($0.key, JSONValue.string($0.value.description)) })
        let permissions = AreaPermissions.permanent
        try FileSystem.createFolders(layout.permanent, permissions: permissions.folders)
        try DurableFile.write(
            JSONValue.object(json).compact().span, to: layout.preservation, permissions: permissions.files,
            replacing: true)
    }

    /// Of a pack the highest of its tags.
    func priority(of pack: PackManifest) -> Double {
        guard pack.tags.contains(where: chosen.keys.contains) else { return pack.listedPreservation }
        return pack.tags.map { chosen[$0] ?? listed[$0] ?? pack.listedPreservation }.max()
            ?? pack.listedPreservation
    }
}

extension VaultStore {
    /// How long the packs of some tags stay when disk space is needed, from 0 to 1: those with less go first. It counts in this store
    /// from now on. Throws `.usage` for any other number.
    public func setPreservationPriority(_ priority: Double, forTags tags: Set<String>)
        async throws(VaultError)
    {
        guard (0...1).contains(priority) else {
            throw VaultError(
                .usage, "\(priority) is not a preservation priority",
                at: tags.sorted().joined(separator: ", "),
                remedy: "use 0 to 1; 90 in vault.json is 0.9 here")
        }
        for tag in tags where !PackOffer.isWord(tag) {
            throw VaultError(
                .usage, "'\(tag.excerpt)' can't be a tag", at: "tags", remedy: PackOffer.wordRule)
        }
        let store = storeAccess
        try await store.withLock { () throws(VaultError) in
            var priorities = try PreservationPriorities(of: layout)
            priorities.choose(priority, for: tags)
            try priorities.save(in: layout)
        }
    }

    /// What was set for a tag in this store; else what the site lists for its packs, and 0.5 for an unknown tag.
    public func preservationPriority(forTag tag: String) async throws(VaultError) -> Double {
        if let set = try PreservationPriorities(of: layout)[tag] { return set }
        return try await listedPreservation()[tag] ?? Double(PackOffer.standardPreservation) / 100
    }

    /// The priorities of all tags that the site lists, as far as its metadata are stored.
    package func preservationPriorities() async throws(VaultError) -> [String: Double] {
        let set = try PreservationPriorities(of: layout)
        let listed = try await listedPreservation()
        return Dictionary(uniqueKeysWithValues: listed.tags.map { ($0, set[$0] ?? listed[$0] ?? 1) })
    }

    private func listedPreservation() async throws(VaultError) -> ListedPreservation {
        try await ListedPreservation(of: StoredSite(store: storeAccess, choice: choice))
    }

    /// Files of the store that can't be read, and count as empty: the next change replaces them.
    package func damagedFiles() throws(VaultError) -> [VaultError] {
        try [PreservationPriorities(of: layout).damage].compactMap(\.self)
    }
}

/// How long the packs of each tag stay according to the site. The site's own packs decide, if any has the tag; else those of the
/// first team that has it. Of these the lowest counts, so that a tag stays no longer than its least preserved pack.
struct ListedPreservation {
    private var byTag: [String: (rank: Int, priority: Double)] = [:]

    init() {}

    /// Where a role is missing, such as one that the host withholds, its packs could come before those of a team: then the last
    /// complete listing counts, and without one the site's own packs alone.
    init(of site: StoredSite) async throws(VaultError) {
        guard let view = try await site.view() else {
            self.init()
            return
        }
        let (packs, areComplete) = try await view.allPacks()
        let complete =
            try await areComplete
            ? packs
            : site.firstEarlier(before: view) { view throws(VaultError) in
                let (packs, areComplete) = try await view.allPacks()
                return areComplete ? packs : nil
            }
        self.init(of: complete ?? packs.filter { $0.rank == 0 })
    }

    private init(of packs: [LocatedPack]) {
        for ranked in packs {
            for tag in ranked.pack.tags {
                var (rank, priority) = (ranked.rank, ranked.pack.listedPreservation)
                if let known = byTag[tag] {
                    guard rank <= known.rank else { continue }
                    if rank == known.rank { priority = min(priority, known.priority) }
                }
                byTag[tag] = (rank, priority)
            }
        }
    }

    /// From 0 to 1; nil for a tag that no listed pack has.
    subscript(tag: String) -> Double? { byTag[tag]?.priority }

    var tags: some Sequence<String> { byTag.keys }
}

extension PackManifest {
    /// From 0 to 1.
    var listedPreservation: Double { Double(offer.preservation) / 100 }
}
