import ArgumentParser
import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite
import VaultTransport

/// A pack on this machine, and where its descriptor is found.
struct PackArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The pack.", valueName: "pack"))
    var pack: String

    @OptionGroup var origin: DescriptorOptions

    var path: FilePath { FilePath(pack) }

    /// The pack with its descriptor, if there is one.
    func open() async throws(VaultError) -> PackFile {
        let file = OpenFileReference(try OpenFile(reading: path))
        return try PackFile(file, as: try await origin.descriptor(of: path, file))
    }

    /// The pack read with a key.
    func unlock(_ keys: any KeyProvider) async throws(VaultError) -> OpenPack {
        let file = try await open()
        do {
            let key = try await keys.contentKey(
                file.contentKeyID, slots: file.descriptor?.slots ?? [], place: pack)
            return try OpenPack(file, key: key)
        } catch {
            guard error.category == .key, file.descriptor == nil else { throw error }
            throw VaultError(
                .missing, "there is no descriptor beside the pack, so its key can't be unwrapped",
                at: PackDescriptorFile.path(beside: path).string,
                remedy:
                    "give --descriptor FILE, or --site URL-or-DIR with --trust ROOT to take it from signed metadata"
            )
        }
    }
}

/// Where the descriptor of a pack comes from: a file, the file beside the pack, or a site's signed metadata.
struct DescriptorOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The pack's descriptor, if it is not PACK.json.", valueName: "file"))
    var descriptor: String?

    @Option(
        help: ArgumentHelp("Take the descriptor from this site's signed metadata.", valueName: "url-or-dir"))
    var site: String?

    @Option(
        help: ArgumentHelp("The root file that the site's metadata must follow from.", valueName: "root.json")
    )
    var trust: String?

    func validate() throws {
        if site != nil, descriptor != nil {
            throw ValidationError("--site and --descriptor exclude each other")
        }
        if site != nil, trust == nil { throw ValidationError("--site needs --trust ROOT.json") }
    }

    /// Nil when none was named and none stands beside the pack.
    func descriptor(of path: FilePath, _ pack: OpenFileReference) async throws(VaultError) -> PackDescriptor?
    {
        if let site {
            return try await descriptor(
                of: pack, from: Site(SiteLocation(site), transport: SchemeTransport()))
        }
        if let descriptor { return try PackDescriptorFile.read(FilePath(descriptor)) }
        // A client's `current` is a link; the descriptor stands beside what it points to.
        for candidate in [path, try target(ofLink: path)] {
            let beside = PackDescriptorFile.path(beside: candidate)
            if try FileSystem.exists(beside) { return try PackDescriptorFile.read(beside) }
        }
        return nil
    }

    private func target(ofLink path: FilePath) throws(VaultError) -> FilePath {
        let folder = path.removingLastComponent()
        guard let name = path.lastComponent?.string,
            let target = try Folder(opening: folder.isEmpty ? "." : folder).readLink(name)
        else { return path }
        return folder.pushing(target)
    }

    private func descriptor(of pack: OpenFileReference, from site: Site) async throws(VaultError)
        -> PackDescriptor
    {
        let root = try DurableFile.read(FilePath(trust ?? ""), limit: TopLevelRole.root.sizeLimit)
        let chain = try await TrustChain.verifying(site, pinnedRoot: root, now: .now)
        let digest = try pack.file.sha256()
        guard let found = PublishedPacks(of: chain).listings.first(where: { $0.pack.sha256 == digest }) else {
            throw VaultError(
                .missing, "the site lists no pack with this file's digest", at: pack.file.path.string,
                remedy: "use the site that published it, or its descriptor")
        }
        return found.pack
    }
}
