import PackSources
import SealedPack
import StrictJSON
import VaultContent
import VaultCrypto
import VaultErrors
import VaultKeys

/// Paths that packs of teams have with other content than another pack of the same tree of files: packs that requests by tag can
/// show together. Of packs that no key here opens nothing is known.
struct TeamPathConflicts {
    /// A file of a team's pack.
    private struct File {
        let pack: OpenPack
        let traits: JSONObject
        let entry: Catalog.Entry

        /// Nil for a damaged pack, which is for the import to refuse.
        func digest() async -> SHA256Digest? {
            var digest = SHA256()
            do throws(VaultError) { try await pack.read(entry.content) { digest.update($0) } } catch {
                return nil
            }
            return digest.finalize()
        }
    }

    /// Two files of one path and one size; the first one's digest is known where it is a source's.
    private struct Undecided {
        let first: PackID
        let digest: SHA256Digest?
        let file: File?
        let other: File
    }

    private var files: [EntryPath: [File]] = [:]
    private var undecided: [Undecided] = []
    /// Sorted by path.
    private(set) var conflicts: [ContentPlan.Conflict] = []

    init(
        of deliveries: [TeamDelivery], in settings: VaultSettings, of vault: VaultFolder,
        keys: any KeyProvider
    ) async throws(VaultError) {
        for delivery in deliveries {
            for (pack, offer) in try await delivery.openedPacks(with: keys) {
                add(pack, offer) { delivery.pack($0) != nil }
            }
        }
        if !files.isEmpty { try addSources(of: settings, in: vault) }
        for pair in undecided {
            let first = if let digest = pair.digest { digest } else { await pair.file?.digest() }
            guard let first, let other = await pair.other.digest(), first != other else { continue }
            note(pair.other.entry.path, pair.first, pair.other.pack.id)
        }
        conflicts.sort { $0.path < $1.path }
    }

    private mutating func add(_ pack: OpenPack, _ offer: PackOffer, isOfSameTeam: (PackID) -> Bool) {
        for index in 0..<pack.catalog.entryCount {
            guard let entry = pack.catalog.entry(index), entry.kind != .emptyFolder else { continue }
            let file = File(pack: pack, traits: offer.traits, entry: entry)
            for known in files[entry.path] ?? []
            where !isOfSameTeam(known.pack.id) && !PathClaims.areVariants(known.traits, file.traits) {
                if known.entry.size == entry.size {
                    undecided.append(Undecided(first: known.pack.id, digest: nil, file: known, other: file))
                } else {
                    note(entry.path, known.pack.id, pack.id)
                }
            }
            files[entry.path, default: []].append(file)
        }
    }

    private mutating func addSources(of settings: VaultSettings, in vault: VaultFolder) throws(VaultError) {
        let sources = PlannedSources(of: settings, in: vault)
        for (number, pack) in settings.packs.enumerated() where !pack.offer.tags.isEmpty {
            let source = try sources.open(number)
            try compare(pack.id, pack.offer, source.folder, Array(source.folder.entries.indices))
        }
        for (number, tree) in settings.resources.enumerated() {
            let source = try sources.open(settings.packs.count + number)
            for pack in try tree.packs(of: source.folder).packs {
                try compare(pack.id, tree.offer(of: pack.labels), source.folder, pack.entries)
            }
        }
    }

    /// The site's own pack comes first, so its file counts.
    private mutating func compare(
        _ id: PackID, _ offer: PackOffer, _ source: borrowing SourceFolder, _ positions: [Int]
    ) throws(VaultError) {
        var reader = try SourceReader(of: source)
        for position in positions {
            let entry = source.entries[position]
            guard case .file = entry.kind, let others = files[entry.path] else { continue }
            for other in others where !PathClaims.areVariants(offer.traits, other.traits) {
                guard other.entry.size == entry.size else {
                    note(entry.path, id, other.pack.id)
                    continue
                }
                let digest = try reader.open(entry).sha256()
                undecided.append(Undecided(first: id, digest: digest, file: nil, other: other))
            }
        }
    }

    private mutating func note(_ path: EntryPath, _ first: PackID, _ other: PackID) {
        conflicts.append(ContentPlan.Conflict(path: path, first: first, other: other))
    }
}
