import ArgumentParser
import AssetVault
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAudit
import VaultErrors
import VaultFileSystem
import VaultKeys
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

    /// - Parameter keys: needed only for the ID of a pack whose site has quiet names.
    func file(_ keys: (any KeyProvider)?) async throws(VaultError) -> PackFile {
        let source = try manifestOptions.source()
        let channel = try channel.channel
        guard case .site(let site, let root) = source, try FileSystem.status(of: FilePath(pack)) == nil else {
            guard channel == nil else {
                throw VaultError(
                    .usage, "a channel lists packs of a site, and this is a file", at: "--channel",
                    remedy: "name the pack by its ID, with --site and --trust")
            }
            return try await LocalPack(path: FilePath(pack), manifestSource: source).file()
        }
        return try await PackOfSite(site, scratch: .temporaryFolder).file(
            of: PackID(pack), in: channel ?? .live, pinnedRoot: TrustedRootOption.root(at: root), keys: keys,
            now: .now)
    }

    /// Reads the pack with a key. Of a pack that a store keeps, the next fetch repairs what was damaged.
    func read<Value>(
        with keys: any KeyProvider, _ body: (OpenPack) async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        let path = FilePath(pack)
        do throws(VaultError) {
            return try await body(LocalPack(path: path).opened(file(keys), with: keys))
        } catch {
            VaultStore.noteDamage(of: path, metBy: error)
            throw error
        }
    }
}

/// The source of a pack's manifest: a file, the file beside the pack, or a site's signed metadata.
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

    func source() throws(VaultError) -> LocalPack.ManifestSource {
        if let site, let root = trust.path {
            return .site(
                Site(try SiteLocation(site), transport: SchemeTransport()), trustedRoot: FilePath(root))
        }
        guard trust.path == nil else {
            throw VaultError(
                .usage, "a root alone says nothing about a pack", at: "--trust",
                remedy: "name the site too, with --site URL-or-DIR")
        }
        return manifest.map { .file(FilePath($0)) } ?? .beside
    }
}
