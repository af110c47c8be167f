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
    /// Fetches, verifies and opens the map of a site with quiet names. Nil where names are public.
    ///
    /// - Parameter scratch: an existing folder, for the downloaded pack.
    public static func open(
        listedBy tree: TargetTree, in packs: PublishedPacks, at site: Site, keys: any KeyProvider,
        scratch: FilePath
    ) async throws(VaultError) -> PackNames? {
        guard tree.chain.hasQuietNames, let map = try packs[PackID(packID)]?.pack else { return nil }
        let target = try TargetRecord(path: map.id.targetPath, json: map.json)
        let location = try site.location(of: target, in: tree.chain)
        let file = try await HostedFile(
            target: target, location: location, transport: site.transport, scratch: scratch
        ).open { _ in }
        try HostedFile.verify(file, as: target, at: location.description)
        let pack = try await OpenPack(
            try PackFile(file, as: map, named: location.description), keys: keys)
        guard let entry = pack.catalog.entry(at: try EntryPath(path)), entry.size <= sizeLimit else {
            throw VaultError(
                .corrupt, "it has no '\(path)' of at most \(sizeLimit) bytes", at: location.description,
                remedy: "publish the vault again")
        }
        let bytes = try await ContentReader(pack, content: entry.content).read(0..<entry.size)
        return try PackNames(parsing: bytes, place: location.description)
    }
}
