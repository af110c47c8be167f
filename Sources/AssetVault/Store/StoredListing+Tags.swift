import SealedPack
import UpdateFramework
import VaultErrors
import VaultSite

/// Packs by their tags, as far as the stored metadata say: of a listing in bins only those that were asked for are stored.
extension StoredListing {
    /// All packs with any of these tags that are listed for this app. Nil where a role is not stored that may list one.
    /// Throws `.corrupt` where only a newer release can read one of them.
    func packs(with tags: Set<String>) async throws(VaultError) -> [RankedPack]? {
        var unreadable = UnreadablePacks()
        let chain = chain.hidingTeams(withoutGrantOf: tags)
        let listed: [PublishedPacks]?
        switch try await indexedRecords(of: tags) {
        case .noIndex: listed = try await published(of: chain, with: tags).map { [$0] }
        case .incomplete: listed = nil
        case .complete(let records):
            // Teams list their packs themselves, without an index.
            let indexed = PublishedPacks(of: records, in: self.chain)
            unreadable.add(indexed, of: tags, isIndexed: true, names)
            listed = try await self.records(of: chain.hidingRoles(where: OwnRoles.contains)).map {
                [indexed, PublishedPacks(of: self.chain.decided($0, withoutGrantOf: tags), in: self.chain)]
            }
        }
        for packs in listed ?? [] { unreadable.add(packs, of: tags, names) }
        if let error = unreadable.error { throw error }
        return listed?.flatMap(ranked).filter { $0.pack.tags.contains(where: tags.contains) }
    }

    /// All packs that are listed for this app. Nil where a role is not stored, or the names of its packs are not known.
    func allPacks() async throws(VaultError) -> [RankedPack]? {
        try await published(of: chain, with: nil).map(ranked)
    }

    /// - Parameter tags: of a chain without the teams that may have none of them; nil for a whole one.
    private func published(
        of chain: TrustChain, with tags: Set<String>?
    ) async throws(VaultError) -> PublishedPacks? {
        guard try await knowsNames else { return nil }
        return try await records(of: chain).map { records in
            let decided = tags.map { self.chain.decided(records, withoutGrantOf: $0) }
            return PublishedPacks(of: decided ?? records, in: self.chain)
        }
    }

    /// Nil where a role is not stored.
    private func records(of chain: TrustChain) async throws(VaultError) -> [TargetRecord]? {
        let tree = try await lookup.tree(of: chain)
        return tree.refusals.isEmpty ? tree.records : nil
    }

    private enum IndexedRecords {
        case noIndex
        /// A role is not stored.
        case incomplete
        case complete([TargetRecord])
    }

    /// The site's own records with some tags, by its index.
    private func indexedRecords(of tags: Set<String>) async throws(VaultError) -> IndexedRecords {
        // An index has no quiet names.
        guard hasQuietNames == false else { return .noIndex }
        do throws(VaultError) {
            var paths: Set<String> = []
            for tag in tags {
                let roles = try await lookup.rolesVisited(for: TagIndex.path(of: tag), in: chain)
                guard let found = TagIndex.paths(of: tag, in: roles) else { return .noIndex }
                paths.formUnion(found)
            }
            var records: [TargetRecord] = []
            for path in paths.sorted() {
                guard let record = try await lookup.target(at: path, in: chain) else { return .incomplete }
                records.append(record)
            }
            return .complete(records)
        } catch {
            guard error.meansIncompleteMetadata else { throw error }
            return .incomplete
        }
    }
}
