import SealedPack
import StrictJSON
import SystemPackage
public import VaultErrors
import VaultFileSystem

/// How long packs stay when disk space is needed, by tag: what the app has set, else what the site lists.
struct PreservationPriorities {
    private var chosen: [String: Double] = [:]

    private static let limit = 1 << 20

    init(of layout: StoreLayout) throws(VaultError) {
        let path = layout.preservation
        guard let bytes = try optional(DurableFile.read(path, limit: Self.limit), ignoring: .missing) else {
            return
        }
        let json = try JSONValue(parsing: bytes.span, place: path.string).asObject(at: path.string)
        for (tag, value) in json {
            guard case .string(let text) = value, let priority = Double(text), (0...1).contains(priority)
            else {
                throw VaultError(
                    .corrupt, "'\(tag.excerpt)' has no priority from 0 to 1", at: path.string,
                    remedy: "remove the file, and set the priorities again")
            }
            chosen[tag] = priority
        }
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
            JSONValue.object(json).canonical().span, to: layout.preservation, permissions: permissions.files,
            replacing: true)
    }

    /// Of a pack the highest of its tags.
    func priority(of pack: PackManifest) -> Double {
        let listed = Double(pack.offer.preservation) / 100
        return pack.tags.map { chosen[$0] ?? listed }.max() ?? listed
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
                .usage, "\(priority) is no preservation priority", at: tags.sorted().joined(separator: ", "),
                remedy: "use 0 to 1")
        }
        for tag in tags where !PackOffer.isWord(tag) {
            throw VaultError(
                .usage, "'\(tag.excerpt)' can't be a tag", at: "tags",
                remedy: "use 1 to 256 bytes without control characters")
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
        let listing = try await StoredListing(kept: storeAccess, choosing: choice)
        let listed = try await listing?.packs.filter { $0.tags.contains(tag) }.map(\.offer.preservation).min()
        return Double(listed ?? PackOffer.standardPreservation) / 100
    }
}
