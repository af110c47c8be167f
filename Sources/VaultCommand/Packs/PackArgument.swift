import ArgumentParser
import SystemPackage
import VaultErrors
import VaultSite
import VaultTransport

/// The pack that a command works on.
struct PackArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The pack.", valueName: "pack"), completion: .file())
    var pack: String

    @OptionGroup var origin: DescriptorOptions

    func local() throws(VaultError) -> LocalPack {
        LocalPack(path: FilePath(pack), origin: try origin.origin())
    }
}

/// Where the descriptor of a pack comes from: a file, the file beside the pack, or a site's signed metadata.
struct DescriptorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The pack's descriptor, if it is not PACK.json.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var descriptor: String?

    @Option(
        help: ArgumentHelp("Take the descriptor from this site's signed metadata.", valueName: "url-or-dir"))
    var site: String?

    @OptionGroup var trust: TrustedRootOption

    func validate() throws {
        if site != nil, descriptor != nil {
            throw ValidationError("--site and --descriptor exclude each other")
        }
        if site != nil, trust.path == nil { throw ValidationError("--site needs --trust ROOT.json") }
    }

    func origin() throws(VaultError) -> LocalPack.Origin {
        if let site, let root = trust.path {
            return .site(
                Site(try SiteLocation(site), transport: SchemeTransport()), trustedRoot: FilePath(root))
        }
        guard trust.path == nil else {
            throw VaultError(
                .usage, "a root alone says nothing about a pack", at: "--trust",
                remedy: "name the site too, with --site URL-or-DIR")
        }
        return descriptor.map { .file(FilePath($0)) } ?? .beside
    }
}
