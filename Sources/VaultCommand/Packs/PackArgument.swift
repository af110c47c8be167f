import ArgumentParser
import SystemPackage
import VaultErrors
import VaultSite
import VaultTransport

/// The pack that a command works on.
struct PackArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The pack.", valueName: "pack"), completion: .file())
    var pack: String

    @OptionGroup var manifestOptions: ManifestOptions

    func local() throws(VaultError) -> LocalPack {
        LocalPack(path: FilePath(pack), manifestSource: try manifestOptions.source())
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
