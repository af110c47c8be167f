import SealedPack
public import SystemPackage
public import UpdateFramework
import VaultContent
public import VaultErrors
import VaultFileSystem
public import VaultKeys
public import VaultSite
import VaultTransport

extension PackNames {
    /// Downloads, verifies and decrypts the table of pack names of a site that hides them. Nil where names are public. Used by
    /// the command `list`; it is here since it gets at the table's file as an audit does.
    ///
    /// - Parameter scratch: an existing folder, for the downloaded pack.
    /// - Throws: `missing` where names are hidden and no table of them is listed.
    public static func open(
        listedBy tree: TargetTree, in packs: PublishedPacks, at site: Site, keys: any KeyProvider,
        scratch: FilePath
    ) async throws(VaultError) -> PackNames? {
        guard tree.chain.hasQuietNames else { return nil }
        // A site without packs has no names either.
        if packs.packs.isEmpty { return PackNames() }
        guard let tableManifest = try packs[PackID(packID)]?.pack else {
            throw VaultError(
                .missing, "the site hides the names of its packs, and lists no table of them",
                at: site.location.description, remedy: "publish the vault again")
        }
        let target = try TargetRecord(path: tableManifest.id.targetPath, json: tableManifest.json)
        let location = try site.location(of: target, in: tree.chain)
        let hosted = HostedFile(
            target: target, location: location, transport: site.transport, scratch: scratch)
        // The table is small: no progress is shown.
        let file = try await hosted.open { _ in }
        try HostedFile.verify(file, as: target, at: location.description)
        let pack = try await OpenPack(
            try PackFile(file, as: tableManifest, named: location.description), keys: keys)
        guard let entry = pack.catalog.entry(at: try EntryPath(path)), entry.size <= sizeLimit else {
            throw VaultError(
                .corrupt, "it has no '\(path)' of at most \(sizeLimit) bytes", at: location.description,
                remedy: "publish the vault again")
        }
        let bytes = try await ContentReader(pack, content: entry.content).read(0..<entry.size)
        return try PackNames(parsing: bytes, place: location.description)
    }
}
