import SealedPack
import VaultContent
import VaultErrors
import VaultSite

/// The table of quiet names as it was published last. Each version that differs gets a content key of its own, so that a key opens only
/// the tables that were sealed for it; the key that makes the names goes on in all of them.
struct NamesTable {
    /// Makes the listed IDs.
    let nameKey: ContentKey
    /// Nil for the first table.
    let previous: Version?

    /// A published table.
    struct Version {
        let pack: PackManifest
        let key: ContentKey
        let names: PackNames
        /// Of the file with the names.
        let bytes: [UInt8]
    }

    /// The first table.
    init() throws(VaultError) { (nameKey, previous) = (try ContentKey.generate(), nil) }

    /// - Parameter hosted: its file at the host, where it is not on this machine.
    /// - Throws: `corrupt` for a pack that holds no table.
    init(
        following pack: PackManifest, from file: OpenPack, at hosted: HostedPack?
    ) async throws(VaultError) {
        try await hosted?.fetch(Array(0..<Int(pack.pieceCount)), of: file)
        let place = pack.id.description
        func refuse(_ problem: String) -> VaultError {
            VaultError(
                .corrupt, problem, at: place, remedy: "restore an earlier state of site/ from your backup")
        }
        guard
            let bytes = try await file.file(
                at: EntryPath(PackNames.path), limit: UInt64(PackNames.sizeLimit))
        else { throw refuse("it has no '\(PackNames.path)' of at most \(PackNames.sizeLimit) bytes") }
        let names = try PackNames(parsing: bytes, place: place)
        guard let wrapped = names.wrappedKey, let nameKey = try? file.key.unwrap(wrapped) else {
            throw refuse("it does not have the key that makes the names")
        }
        self.nameKey = nameKey
        previous = Version(pack: pack, key: file.key, names: names, bytes: bytes)
    }

    /// The published version that has exactly these names; nil where a new one is needed.
    func version(with names: PackNames) -> Version? {
        var names = names
        names.wrappedKey = previous?.names.wrappedKey
        return previous.flatMap { $0.bytes == names.bytes ? $0 : nil }
    }

    /// The file of a new version.
    func bytes(with names: PackNames, under key: ContentKey) throws(VaultError) -> [UInt8] {
        var names = names
        names.wrappedKey = try key.wrap(nameKey)
        return names.bytes
    }
}

extension PackManifest {
    /// Whether it is the table of quiet names.
    var isNamesTable: Bool { id.description == PackNames.packID }
}
