import SealedPack
import VaultContent
import VaultErrors
import VaultKeys
import VaultSite

/// The table of quiet names that a publication goes on with. Each version that differs gets a content key of its own, so that a key
/// opens only the tables that were sealed for it; the key that makes the names goes on in all of them.
struct NamesTable {
    /// Makes the listed IDs.
    let nameKey: ContentKey
    /// The same, for the vault's own keys of today.
    private let sealedKey: PackNames.SealedKey
    /// What is listed now; nil for the first table.
    let newest: PackManifest?
    /// What it holds; nil where no key here opens it.
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

/// What a published table of quiet names holds.
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
            return try await keys.openers().contentKey(
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
            problem: "names are quiet, and the vault's own key keeps what makes them: \(error.problem)")
    }
}

extension PackID {
    /// Whether it is that of the table of quiet names.
    var isNamesTable: Bool { description == PackNames.packID }
}

extension PackManifest {
    var isNamesTable: Bool { id.isNamesTable }
}
