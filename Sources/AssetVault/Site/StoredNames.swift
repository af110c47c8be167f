import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite

/// The names of a site with opaque names, as the app opened them: kept in its own area for work without a key or a site, and
/// for downloaders, which know by them what to download. They are kept if the site later lists public names, or the store
/// changes channel, because loaded packs keep their names.
struct StoredNames: Sendable, Equatable {
    /// The names in the table. Packs that were here before the table and are not in it keep theirs (`former` in JSON).
    let names: PackNames
    /// The digest of the pack that holds the table.
    let digest: SHA256Digest
    /// Whether the listing that decided last has opaque names. In JSON `opaque`.
    var areOpaque: Bool

    init(_ names: PackNames, of pack: PackManifest) {
        (self.names, digest, areOpaque) = (names, pack.sha256, true)
    }

    /// The ID by which the listing that decided last lists a pack, given by its name or by either ID.
    func listedID(of id: PackID) -> PackID {
        let name = names.shownID(of: id)
        return areOpaque ? names.listedID(of: name) ?? name : name
    }

    /// The IDs that a pack has beside this one: its name, and those of the tables; none for an unknown one.
    func otherIDs(of id: PackID) -> [PackID] {
        let name = names.shownID(of: id)
        return ([name, names.listedID(of: name)].compactMap(\.self) + names.formerIDs(of: name))
            .filter { $0 != id }
    }

    /// Nil where there are none, and for a downloader that can't read the app's. A damaged file counts as absent. The next fetch
    /// with a key writes it again from the table of names.
    init?(of store: StoreAccess) throws(VaultError) {
        let path = store.layout.names
        let stored: Self?
        switch store.role {
        case .app: stored = try optional(Self.read(path), ignoring: .corrupt) ?? nil
        case .downloader: stored = try? Self.read(path)
        }
        guard let stored else { return nil }
        self = stored
    }

    private static func read(_ path: FilePath) throws(VaultError) -> Self? {
        guard let bytes = try optional(DurableFile.read(path, limit: PackNames.sizeLimit), ignoring: .missing)
        else {
            return nil
        }
        let json = try JSONValue(parsing: bytes.span, place: path.string).asObject(at: path.string)
        guard let digest = SHA256Digest(hex: try json.string("sha256", at: path.string)) else {
            throw VaultError(
                .corrupt, "it has no digest", at: path.string, remedy: "remove it, and fetch again")
        }
        var names = try PackNames(parsing: json.object("names", at: path.string), place: path.string)
        if let former = try json.optionalObject("former", at: path.string) {
            let former = try PackNames(parsing: former, place: path.string)
            names.addFormer(of: former, for: former.ids)
        }
        return Self(names: names, digest: digest, areOpaque: json["opaque"] != .bool(false))
    }

    private init(names: PackNames, digest: SHA256Digest, areOpaque: Bool) {
        (self.names, self.digest, self.areOpaque) = (names, digest, areOpaque)
    }

    func save(in layout: StoreLayout) throws(VaultError) {
        let json: JSONObject = [
            "sha256": .string(digest.hex), "names": .object(names.json), "opaque": .bool(areOpaque),
            "former": .object(names.former.json),
        ]
        let permissions = AreaPermissions.permanent
        try FileSystem.createFolders(layout.permanent, permissions: permissions.folders)
        try DurableFile.write(
            JSONValue.object(json).compact().span, to: layout.names, permissions: permissions.files,
            replacing: true)
    }
}
