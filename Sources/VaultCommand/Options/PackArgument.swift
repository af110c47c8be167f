import ArgumentParser
import AssetVault
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultHTTP
import VaultSite
import VaultTransport

/// The pack that a command works on: a file, or where there is none and `--site` is given the ID of a pack that the site lists.
struct PackArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The pack: a file, or with --site its ID.", valueName: "pack"), completion: .file()
    )
    var pack: String

    @OptionGroup var manifestOptions: ManifestOptions
    @OptionGroup var channel: ChannelOption

    /// Reads the whole pack with a key.
    func read(with keys: any KeyProvider, _ body: (OpenPack) async throws(VaultError) -> Void)
        async throws(VaultError)
    {
        try await noting { () throws(VaultError) in
            try await body(opened(file(of: .whole, keys).file, with: keys))
        }
    }

    /// Reads a part of the pack with a key: of one at a host only that comes.
    func readPart<Value>(
        with keys: any KeyProvider, _ body: (PackPart) async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        try await noting { () throws(VaultError) in
            let (file, hosted) = try await file(of: .part, keys)
            return try await body(PackPart(opened: opened(file, with: keys), hosted: hosted))
        }
    }

    /// The pack of the site for reading by a client, whose store may have a part of it.
    func early(in store: String, with keys: any KeyProvider) async throws(VaultError) -> EarlyPack {
        let layout = StoreLayout(root: FilePath(store))
        var configuration = VaultConfiguration(
            site: try SiteLocation(manifestOptions.site ?? ""), store: layout,
            trustedRoot: try manifestOptions.trust.root()?.bytes, keys: keys)
        configuration.channel = try channel.channel
        return try await VaultClient(configuration).early(PackID(pack))
    }

    /// The pack for what is known without its pieces.
    func partialFile() async throws(VaultError) -> PackFile { try await file(of: .part, nil).file }

    private enum Extent { case whole, part }

    /// The pack where it is: a file, or at a site, of which a part has no pieces yet.
    ///
    /// - Parameter keys: needed only for the ID of a pack whose site has opaque names.
    private func file(
        of extent: Extent, _ keys: (any KeyProvider)?
    ) async throws(VaultError) -> (file: PackFile, hosted: HostedPack?) {
        let evidence = try manifestOptions.evidence(for: FilePath(pack))
        let channel = try channel.channel
        // A folder is no pack, but often the source of one with its name.
        let found = try FileSystem.status(of: FilePath(pack), followingLinks: true)?.kind
        guard case .site(let site, let root?) = evidence, found == nil || found == .folder else {
            guard channel == nil else {
                throw VaultError(
                    .usage, "a channel lists packs of a site, and this is a file", at: "--channel",
                    remedy: "name the pack by its ID, with --site and --trust")
            }
            return (try await LocalPack(path: FilePath(pack)).file(by: evidence), nil)
        }
        let listed = try await PackOfSite(
            named: PackID(pack), in: channel ?? .live, of: site,
            pinnedRoot: root, keys: keys, scratch: .temporaryFolder, now: .now)
        switch extent {
        case .whole: return (try await listed.file(), nil)
        case .part:
            let hosted = try await listed.part()
            return (hosted.pack, hosted)
        }
    }

    private func opened(_ file: PackFile, with keys: any KeyProvider) async throws(VaultError) -> OpenPack {
        try await LocalPack(path: FilePath(pack)).opened(file, with: keys)
    }

    /// Of a pack that a store keeps, the next fetch repairs what was damaged.
    private func noting<Value>(
        _ body: () async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        do throws(VaultError) { return try await body() } catch {
            VaultStore.noteDamage(of: FilePath(pack), metBy: error)
            throw error
        }
    }
}

/// A pack whose pieces may be at a host.
struct PackPart {
    let opened: OpenPack
    /// Nil for a local file.
    let hosted: HostedPack?

    func read(
        _ content: Range<UInt64>, _ deliver: (Span<UInt8>) throws(VaultError) -> Void
    ) async throws(VaultError) {
        guard let hosted else { return try await opened.read(content, deliver) }
        try await hosted.read(content, of: opened, deliver)
    }
}

/// What says which pack a file is: a manifest's file, the file beside the pack, or a site's signed metadata.
struct ManifestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The pack's manifest, if it is not PACK.json.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var manifest: String?

    @Option(
        help: ArgumentHelp("Take the manifest from this site's signed metadata.", valueName: "url-or-dir"))
    var site: String?

    @OptionGroup var trust: TrustedRootOption

    func validate() throws {
        if site != nil, manifest != nil {
            throw ValidationError("--site and --manifest exclude each other")
        }
        if site != nil, trust.path == nil { throw ValidationError("--site needs --trust ROOT.json") }
    }

    /// Of a pack that is a file.
    func evidence(for pack: FilePath) throws(VaultError) -> PackAudit.Evidence {
        if let site {
            let location = try SiteLocation(site)
            return .site(Site(location, transport: SchemeTransport()), pinnedRoot: try trust.root())
        }
        guard trust.path == nil else {
            throw VaultError(
                .usage, "a root alone says nothing about a pack", at: "--trust",
                remedy: "name the site too, with --site URL-or-DIR")
        }
        if let manifest { return .manifest(FilePath(manifest)) }
        return try LocalPack(path: pack).evidenceBeside
    }
}

/// A local pack.
struct LocalPack {
    let path: FilePath

    /// The pack with its manifest, if there is one.
    func file(by evidence: PackAudit.Evidence) async throws(VaultError) -> PackFile {
        let file = OpenFileReference(try OpenFile(reading: path))
        let pack = try PackFile(file, as: try await manifest(of: file, by: evidence))
        return try pack.withBases(beside: try linkTarget)
    }

    /// The pack read with a key.
    func opened(with keys: any KeyProvider) async throws(VaultError) -> OpenPack {
        try await opened(try await file(by: evidenceBeside), with: keys)
    }

    /// Its file read with a key.
    func opened(_ pack: PackFile, with keys: any KeyProvider) async throws(VaultError) -> OpenPack {
        do {
            return try await OpenPack(pack, keys: keys)
        } catch {
            guard error.category == .key, pack.manifest == nil else { throw error }
            throw VaultError(
                .missing, "there is no manifest beside the pack, so its key can't be unwrapped",
                at: PackManifestFile.path(beside: path).string,
                remedy: "give --manifest FILE, or --site URL-or-DIR with --trust ROOT for signed metadata")
        }
    }

    private func manifest(
        of pack: OpenFileReference, by evidence: PackAudit.Evidence
    ) async throws(VaultError) -> PackManifest? {
        switch evidence {
        case .nothing: return nil
        case .manifest(let path): return try PackManifestFile.read(path)
        case .site(let site, let root):
            let tree = try await TargetTree.verifying(site, pinnedRoot: root, now: .now)
            return try PublishedPacks(ofAllChannelsOf: tree).manifest(
                of: try PackFile(pack, as: nil), at: pack.file.path.string)
        }
    }

    /// The manifest beside the pack, if there is one.
    var evidenceBeside: PackAudit.Evidence {
        get throws(VaultError) { try manifestBeside.map { .manifest($0) } ?? .nothing }
    }

    /// The manifest's file beside the pack, if there is one.
    var manifestBeside: FilePath? {
        get throws(VaultError) {
            // A client's `current` is a link; the manifest is beside its target.
            for candidate in [try linkTarget, path] {
                let beside = PackManifestFile.path(beside: candidate)
                let pending = PackManifestFile.pending(beside)
                // A killed run may have renamed the new pack into place but not its manifest; that manifest is still `.json.next`.
                if try FileSystem.exists(pending), let manifest = try? PackManifestFile.read(pending),
                    (try? PackFile(opening: path, as: manifest)) != nil
                {
                    return pending
                }
                if try FileSystem.status(of: beside, followingLinks: true)?.kind == .file { return beside }
            }
            return nil
        }
    }

    private var linkTarget: FilePath {
        get throws(VaultError) {
            guard try FileSystem.status(of: path)?.kind == .link, let name = path.lastComponent?.string
            else { return path }
            let folder = path.removingLastComponent()
            let target = try Folder(opening: folder.isEmpty ? "." : folder).readLink(name)
            return target.map { folder.pushing($0) } ?? path
        }
    }
}
