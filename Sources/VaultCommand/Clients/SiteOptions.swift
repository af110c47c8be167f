import ArgumentParser
import AssetVault
import SystemPackage
import VaultErrors
import VaultTransport

/// The site that a client uses, and the packs that it fetches.
struct SiteOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The site: https, http or file URL, or a folder.", valueName: "url"),
        completion: .directory)
    var url: String

    @Option(help: ArgumentHelp("Another host of the same site; repeatable.", valueName: "url"))
    var mirror: [String] = []

    @Option(
        help: ArgumentHelp("The site's root file; needed the first time only.", valueName: "root.json"),
        completion: .file(extensions: ["json"]))
    var trust: String?

    @OptionGroup var listing: ListingOptions

    @OptionGroup var device: DeviceOption

    @OptionGroup var connection: TransportOptions

    func configuration(of store: StoreLayout) throws(VaultError) -> VaultConfiguration {
        var configuration = VaultConfiguration(
            site: try location(), store: store, transport: try connection.transport())
        for text in mirror { configuration.mirrors.append(try SiteLocation(text)) }
        if let trust {
            configuration.trustedRoot = try TrustedRootOption.root(at: FilePath(trust))
        }
        configuration.policy.allowedHosts = try connection.allowedHosts()
        configuration.channel = try listing.channel.channel
        configuration.appVersion = try listing.version
        configuration.device = try device.traits
        return configuration
    }

    /// Without mirrors, throws `missing` where a folder holds no site.
    private func location() throws(VaultError) -> SiteLocation {
        let location = try SiteLocation(url)
        if mirror.isEmpty, let folder = location.path { try folder.requireSite() }
        return location
    }
}
