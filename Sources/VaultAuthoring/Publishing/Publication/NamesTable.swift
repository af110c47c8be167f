import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite

/// The table of opaque names that a publication continues. Each version with other names gets a new content key, so that a vault
/// key opens only the tables that were sealed for it. The key that makes the opaque IDs stays the same in all of them.
struct NamesTable {
    /// Makes the listed IDs.
    let nameKey: ContentKey
    /// The same, for the vault's own keys of today.
    private let sealedKey: PackNames.SealedKey
    /// The listed table; nil for the first one.
    let newest: PackManifest?
    /// Its content; nil if no given key opens it.
    let published: PublishedNames?

    /// - Parameter nameKey: nil for a fresh one.
    /// - Throws: `key` where the vault has no key of its own.
    init(
        naming nameKey: ContentKey?, for keys: AuthorKeys, after newest: PackManifest? = nil,
        _ published: PublishedNames? = nil
    ) async throws(VaultError) {
        let key = if let nameKey { nameKey } else { try ContentKey.generate() }
        do throws(VaultError) {
            let slots = try await ContentKeyChoice.slots(of: key, for: keys.own)
            sealedKey = PackNames.SealedKey(
                id: key.id, slots: slots.sorted { $0.keyID.description < $1.keyID.description })
        } catch {
            throw .aboutNameKey(error)
        }
        (self.nameKey, self.newest, self.published) = (key, newest, published)
    }

    /// The file of the table.
    func bytes(with names: PackNames) -> [UInt8] {
        var names = names
        names.key = sealedKey
        return names.bytes
    }
}

/// The content of a published table of opaque names.
struct PublishedNames {
    let names: PackNames
    /// The file.
    let bytes: [UInt8]
    /// Of the pack.
    let key: ContentKey
    private let place: String

    /// - Parameter hosted: its file at the host, where it is not on this machine.
    /// - Throws: `corrupt` for a pack that holds no table.
    init(
        in pack: PackManifest, from file: OpenPack, at hosted: HostedPack?
    ) async throws(VaultError) {
        try await hosted?.fetch(Array(0..<Int(pack.pieceCount)), of: file)
        place = pack.id.description
        guard
            let bytes = try await file.file(
                at: EntryPath(PackNames.path), limit: UInt64(PackNames.sizeLimit))
        else {
            throw Self.damage(
                "it has no '\(PackNames.path)' of at most \(PackNames.sizeLimit) bytes", at: place)
        }
        names = try PackNames(parsing: bytes, place: place)
        (self.bytes, key) = (bytes, file.key)
    }

    /// The key that makes the listed IDs. Throws `.key` where none of the vault's own keys is here.
    func nameKey(openedBy keys: AuthorKeys) async throws(VaultError) -> ContentKey {
        guard let sealed = names.key else {
            throw Self.damage("it does not have the key that makes the names", at: place)
        }
        do throws(VaultError) {
            return try await keys.openers.contentKey(
                sealed.id, slots: sealed.slots, place: "the key of the names in \(place)")
        } catch {
            throw .aboutNameKey(error)
        }
    }

    private static func damage(_ problem: String, at place: String) -> VaultError {
        VaultError(
            .corrupt, problem, at: place, remedy: "restore an earlier state of site/ from your backup")
    }
}

extension VaultError {
    fileprivate static func aboutNameKey(_ error: VaultError) -> VaultError {
        guard error.category == .key else { return error }
        return error.with(
            problem:
                "names are opaque, and only the vault's own key gives the key that makes them: \(error.problem)"
        )
    }
}

/// The tables of names that one run seals again: those of two channels get two numbers, unless they are the same table.
struct ContinuedTables {
    private(set) var given: GivenVersions
    /// By the digests of the tables that they take the places of.
    private(set) var continued: [SHA256Digest: PackManifest] = [:]

    /// Tables that an earlier run sealed, or that a channel lists. One with the content that is to be listed is listed again.
    let sealed: [PackManifest]

    init(after given: GivenVersions, in session: AuthorSession) throws(VaultError) {
        self.given = given
        sealed =
            given.unfinishedVersions { $0.hasSuffix("/\(PackNames.packID).avpack") }
            + (try session.listedVersions().map(\.pack).filter { $0.isNamesTable })
    }

    mutating func note(_ next: PackManifest, after table: PackManifest) {
        given = given.adding([next])
        continued[table.sha256] = next
    }
}

extension PackID {
    /// Whether it is that of the table of opaque names.
    var isNamesTable: Bool { description == PackNames.packID }
}

extension PackManifest {
    var isNamesTable: Bool { id.isNamesTable }
}

extension [ListedPack] {
    /// The table of names last, because it is sealed for the readers of the others.
    var namesTableLast: [ListedPack] { filter { !$0.pack.isNamesTable } + filter(\.pack.isNamesTable) }
}

extension PackPublisher {
    /// The table of names to continue. After `restore` a channel may have a table that no given key opens: then the table of
    /// another channel has the key of the names, too.
    func namesTable(after earlier: EarlierPacks) async throws(VaultError) -> NamesTable {
        let tables = try files.available(earlier.candidates(for: PackID(PackNames.packID)))
        guard let newest = tables.first else { return try await NamesTable(naming: nil, for: keys) }
        do throws(VaultError) {
            let published = try await publishedNames(in: newest)
            return try await NamesTable(
                naming: published.nameKey(openedBy: keys), for: keys, after: newest, published)
        } catch {
            guard error.category == .key, !error.isUnreadKey else { throw error }
            for table in tables.dropFirst() {
                guard let nameKey = try? await publishedNames(in: table).nameKey(openedBy: keys) else {
                    continue
                }
                return try await NamesTable(naming: nameKey, for: keys, after: newest)
            }
            throw error
        }
    }

    /// Whether the names can be published anew after this table.
    func canGoOn(after table: PackManifest) async -> Bool {
        (try? await publishedNames(in: table).nameKey(openedBy: keys)) != nil
    }

    private func publishedNames(in pack: PackManifest) async throws(VaultError) -> PublishedNames {
        let key = try await keys.openers.contentKey(of: pack)
        let (file, hosted) = try await files.published(pack, key: key)
        return try await PublishedNames(in: pack, from: file, at: hosted)
    }

    /// The names of packs, as far as a given key opens their tables.
    func names(of packs: [PackManifest]) async -> PackNames {
        var names = PackNames()
        for table in packs.filter(\.isNamesTable) {
            guard let published = try? await publishedNames(in: table) else { continue }
            names.complete(by: published.names, for: packs.map(\.id))
        }
        return names
    }

    /// The names of listed packs, also those that only an earlier table or a table of another channel has; used in reports only.
    func complete(
        _ names: PackNames, for listed: [PackID], after earlier: EarlierPacks
    ) async throws(VaultError) -> PackNames {
        var names = names
        for pack in earlier.candidates(for: try PackID(PackNames.packID))
        where listed.contains(where: { names[listed: $0] == nil && $0 != pack.id }) {
            guard let table = try? await publishedNames(in: pack) else { continue }
            names.complete(by: table.names, for: listed)
        }
        return names
    }

    /// Seals the table of opaque names, which clients need first, if the names differ from the published ones.
    ///
    /// - Parameter readable: all other packs that the channel lists.
    func seal(
        _ names: PackNames, after table: NamesTable, forReadersOf readable: [PackManifest],
        _ given: GivenVersions
    ) async throws(VaultError) -> SealingResult {
        let bytes = table.bytes(with: names)
        if var pack = table.newest, let same = table.published, same.bytes == bytes {
            pack.slots = try await slots(of: same.key, replacing: pack.slots, forReadersOf: readable)
            return SealingResult(manifest: pack, reusedPieces: pack.pieceCount)
        }
        let key = try ContentKey.generate()
        let slots = try await slots(of: key, replacing: [], forReadersOf: readable)
        let scratch = try ScratchFolder(beside: vault.site)
        try DurableFile.write(
            bytes.span, to: scratch.path.appending(PackNames.path), permissions: 0o600, replacing: false)
        let source = try SourceFolder(scanning: scratch.path)
        let request = SealingRequest(
            id: try PackID(PackNames.packID), versioning: .exactly(1), key: key, slots: slots,
            offer: PackOffer(policy: .essential), compression: .standard)
        // Of another content key than the table before, so it has nothing of that.
        let result = try await seal(request, source, after: nil, given) { _ in }
        _ = consume scratch
        return result
    }

    /// A published table, for all keys of the packs of its channel. Its file has the key that makes the names in slots for the vault's
    /// own keys, so for other own keys it is sealed again. Unchanged if no key opens it; a table whose file is not here, or whose names'
    /// key does not open, gets other slots alone.
    func rekey(
        namesTable table: PackManifest, forReadersOf readable: [PackManifest],
        _ tables: inout ContinuedTables
    ) async throws(VaultError) -> PackManifest {
        let key: ContentKey
        do throws(VaultError) {
            key = try await keys.openers.contentKey(of: table)
        } catch {
            guard error.category == .key, !error.isUnreadKey else { throw error }
            return table
        }
        if let known = tables.continued[table.sha256] {
            let key = try await keys.openers.contentKey(of: known)
            var next = known
            next.slots = try await slots(of: key, replacing: known.slots, forReadersOf: readable)
            return next
        }
        guard let (published, nameKey) = try await continuable(table) else {
            var next = table
            next.slots = try await slots(of: key, replacing: table.slots, forReadersOf: readable)
            return next
        }
        let continued = try await NamesTable(naming: nameKey, for: keys, after: table, published)
        let bytes = continued.bytes(with: published.names)
        var next = try await sealed(bytes, among: tables, forReadersOf: readable)
        if next == nil {
            next = try await seal(
                published.names, after: continued, forReadersOf: readable, tables.given
            ).manifest
        }
        guard let next else { return table }
        tables.note(next, after: table)
        return next
    }

    /// Nil where the table's file is not here, or no key opens its names' key. An I/O error is thrown, as the file may be sound.
    private func continuable(
        _ table: PackManifest
    ) async throws(VaultError) -> (published: PublishedNames, nameKey: ContentKey)? {
        do throws(VaultError) {
            let published = try await publishedNames(in: table)
            return (published, try await published.nameKey(openedBy: keys))
        } catch {
            guard !error.isStorageFailure, !error.isUnreadKey else { throw error }
            return nil
        }
    }

    /// A table with this content that exists already, unless it is under a retired key.
    private func sealed(
        _ bytes: [UInt8], among tables: ContinuedTables, forReadersOf readable: [PackManifest]
    ) async throws(VaultError) -> PackManifest? {
        for var table in tables.sealed {
            guard let published = try? await publishedNames(in: table), published.bytes == bytes,
                !retiredContentKeys.contains(table.contentKeyID)
            else { continue }
            table.slots = try await slots(of: published.key, replacing: table.slots, forReadersOf: readable)
            return table
        }
        return nil
    }

    /// The file of a table with its key that makes the names in slots for the vault's own keys.
    func continued(_ table: PackManifest) async throws(VaultError) -> [UInt8] {
        let published = try await publishedNames(in: table)
        return try await NamesTable(naming: published.nameKey(openedBy: keys), for: keys)
            .bytes(with: published.names)
    }

    /// The slots of the key that makes the names in a table.
    func nameKeySlots(in table: PackManifest) async throws(VaultError) -> PackNames.SealedKey? {
        try await publishedNames(in: table).names.key
    }

    /// The keys that a channel's table of names is sealed for: the vault's own keys, and each key that a pack of the channel is
    /// sealed for. A slot of such a key that is not available here stays.
    private func slots(
        of key: ContentKey, replacing earlier: [KeySlot], forReadersOf readable: [PackManifest]
    ) async throws(VaultError) -> [KeySlot] {
        var slots = try await ContentKeyChoice.slots(of: key, for: keys.own)
        let readers = Set(readable.flatMap(\.slots).map(\.keyID)).subtracting(slots.map(\.keyID))
        for id in readers.sorted(by: { $0.description < $1.description }) {
            var reader: VaultKey?
            do throws(VaultError) { reader = try await keys.openers.keys(for: id).vaultKeys.first } catch {
                guard !error.isUnreadKey else { throw error }
            }
            if let reader {
                slots.append(try KeySlot(wrapping: key, under: reader))
            } else {
                slots += earlier.filter { $0.keyID == id }
            }
        }
        try KeySlot.requireCount(slots.count, at: AuthorKeys.readersOfNames)
        return slots
    }
}
