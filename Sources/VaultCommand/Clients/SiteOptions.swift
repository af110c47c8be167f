import ArgumentParser
import AssetVault
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultTransport

/// Which site a client uses, and what it takes from it.
struct SiteOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The site: https, http or file URL, or a folder.", valueName: "url"))
    var url: String

    @Option(help: ArgumentHelp("Another host of the same site; repeatable.", valueName: "url"))
    var mirror: [String] = []

    @Option(help: ArgumentHelp("The site's root file; needed the first time only.", valueName: "root.json"))
    var trust: String?

    @Option(help: ArgumentHelp("How many packs to work on at a time.", valueName: "count"))
    var parallel = 4

    @Option(
        help: ArgumentHelp(
            "Bytes that the essential packs of a downloader's 'install' may take, metadata included.",
            valueName: "bytes"))
    var essentialAllowance: UInt64?

    @Option(
        help: ArgumentHelp(
            "Bytes that the other packs of a downloader's 'install' may take.", valueName: "bytes"))
    var allowance: UInt64?

    @Option(help: ArgumentHelp("Bytes that essential packs may take once opened.", valueName: "bytes"))
    var essentialSize: UInt64?

    @Option(help: ArgumentHelp("Bytes that all other packs may take once opened.", valueName: "bytes"))
    var installedSize: UInt64?

    @OptionGroup var connection: TransportOptions

    func configuration(of store: StoreLayout) throws(VaultError) -> VaultConfiguration {
        var configuration = VaultConfiguration(
            site: try SiteLocation(url), store: store, transport: try connection.transport())
        for text in mirror { configuration.mirrors.append(try SiteLocation(text)) }
        if let trust {
            configuration.trustedRoot = try DurableFile.read(
                FilePath(trust), limit: MetadataRole.root.sizeLimit)
        }
        configuration.packsAtOnce = parallel
        configuration.policy = PlanningPolicy(
            essentialDownloadAllowance: essentialAllowance, downloadAllowance: allowance,
            essentialInstalledSize: essentialSize, installedSize: installedSize,
            allowedHosts: try connection.allowedHosts())
        return configuration
    }
}
