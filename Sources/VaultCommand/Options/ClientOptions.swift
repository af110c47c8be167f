import ArgumentParser
import AssetVault
import SealedPack
import VaultBase
import VaultSite
import VaultTransport

/// The site that a client uses. `ViewOptions` and `TransportOptions` stand beside it, not in it: the parser of a debug build takes
/// four times as long for each level of groups in groups.
struct ClientOptions: ParsableArguments {
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

    /// Without mirrors, throws `.missing` where a folder holds no site.
    func configuration(
        of store: StoreLayout, seeing view: ViewOptions, over connection: TransportOptions
    ) throws(VaultError) -> VaultConfiguration {
        let location = try SiteLocation(url)
        if mirror.isEmpty, let folder = location.path { try folder.requireSite() }
        var configuration = try view.configuration(
            of: location, for: store, trusting: TrustedRootOption.root(named: trust)?.bytes, over: connection)
        for text in mirror { configuration.mirrors.append(try SiteLocation(text)) }
        return configuration
    }
}

/// Which packs of a site a client sees, and as which device.
struct ViewOptions: ParsableArguments {
    @OptionGroup var channel: ChannelOption
    @OptionGroup var app: AppVersionOption

    @Option(
        name: .customLong("device"),
        help: ArgumentHelp(
            """
            What the device states, such as scale=2 or language=de-AT,en: of the variants of each file only \
            the one that fits is taken; repeatable, and 'all' takes all variants. A store keeps the device \
            that was named last and worked, at first one that states nothing and gets the fallbacks.
            """,
            valueName: "trait=value"))
    private var traits: [String] = []

    /// Nil without the option.
    var device: DeviceTraits? {
        get throws(VaultError) { traits.isEmpty ? nil : try DeviceTraits(parsing: traits) }
    }

    func configuration(
        of site: SiteLocation, for store: StoreLayout, trusting root: [UInt8]?,
        over connection: TransportOptions
    ) throws(VaultError) -> VaultConfiguration {
        var configuration = VaultConfiguration(
            site: site, store: store, trustedRoot: root, transport: try connection.transport())
        configuration.policy.allowedHosts = try connection.allowedHosts()
        configuration.channel = try channel.channel
        configuration.appVersion = try app.version
        configuration.device = try device
        return configuration
    }
}

/// The version of the app that uses a client.
struct AppVersionOption: ParsableArguments {
    @Option(
        name: .customLong("app-version"),
        help: ArgumentHelp(
            """
            The version of the app, such as 2.1: of a pack that is listed in several versions, the one for \
            this app is taken. A store keeps the last one that was named.
            """,
            valueName: "version"))
    private var appVersion: String?

    /// Nil without the option.
    var version: AppVersion? {
        get throws(VaultError) { try appVersion.map { text throws(VaultError) in try AppVersion(text) } }
    }
}

/// Limits of a client that downloads.
struct ClientLimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How many packs to work on at a time, at most.", valueName: "count"))
    var parallel = 4

    @Option(
        help: ArgumentHelp(
            """
            Bytes that essential packs may take once opened, such as 500MB or 2GiB; 4 KiB are counted for \
            each file beside its content.
            """,
            valueName: "bytes"))
    var essentialSize: ByteCount?

    @Option(
        help: ArgumentHelp(
            "Bytes that all other packs may take once opened, counted likewise.", valueName: "bytes"))
    var installedSize: ByteCount?

    @OptionGroup var network: MeteredOptions

    func validate() throws {
        if parallel < 1 { throw ValidationError("--parallel takes a count, 1 or more") }
    }

    func apply(to configuration: inout VaultConfiguration) {
        configuration.packsAtOnce = parallel
        configuration.policy.essentialInstalledSize = essentialSize?.bytes
        configuration.policy.installedSize = installedSize?.bytes
        network.apply(to: &configuration)
    }
}

/// The metered network of this run.
struct MeteredOptions: ParsableArguments {
    @Flag(help: "The network is metered: prefetch packs that were not requested are not downloaded.")
    var metered = false

    @Option(
        help: ArgumentHelp(
            """
            Bytes of packs to download over a metered network in this run at most, such as 100MB; bytes that \
            are sent and discarded count, too.
            """,
            valueName: "bytes"))
    var meteredAllowance: ByteCount?

    func validate() throws {
        if meteredAllowance != nil, !metered {
            throw ValidationError("--metered-allowance needs --metered: other networks have no allowance")
        }
    }

    func apply(to configuration: inout VaultConfiguration) {
        configuration.network = metered ? .metered : .unrestricted
        configuration.policy.meteredAllowance = meteredAllowance?.bytes
    }
}

/// The time limit of a client.
struct TimeOption: ParsableArguments {
    @Option(
        name: .customLong("time"),
        help: ArgumentHelp(
            "Stop after this time; the next run resumes.", valueName: "seconds"))
    private var seconds: Double?

    /// Nil for no limit.
    var duration: Duration? { seconds.map { .seconds($0) } }

    func validate() throws {
        if let seconds, !(seconds > 0 && seconds < 1e9) {
            throw ValidationError("--time takes seconds, more than 0 and below 1000000000")
        }
    }
}

/// The form of packs in permanent storage.
struct FormOptions: ParsableArguments {
    private enum Flag: EnumerableFlag {
        case opened, sealed

        static func help(for flag: Flag) -> ArgumentHelp? {
            switch flag {
            case .opened: "Open packs into folders, also those that were kept sealed so far."
            case .sealed:
                """
                Keep packs sealed in permanent storage; their files are read \
                in place. Later versions stay sealed.
                """
            }
        }
    }

    @ArgumentParser.Flag(exclusivity: .exclusive)
    private var chosen: Flag?

    /// Nil keeps the form of the earlier version; a new pack is opened.
    var form: PackForm? {
        switch chosen {
        case .opened: .opened
        case .sealed: .sealed
        case nil: nil
        }
    }
}
