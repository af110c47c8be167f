import ArgumentParser
import AssetVault

/// Limits of a client.
struct ClientLimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How many packs to work on at a time, at most.", valueName: "count"))
    var parallel = 4

    @Option(
        help: ArgumentHelp(
            "Bytes that essential packs may take once opened, such as 500MB or 2GiB; 4 KiB are counted for each file beside its content.",
            valueName: "bytes"))
    var essentialSize: ByteCount?

    @Option(
        help: ArgumentHelp(
            "Bytes that all other packs may take once opened, counted likewise.", valueName: "bytes"))
    var installedSize: ByteCount?

    func validate() throws {
        if parallel < 1 { throw ValidationError("--parallel takes a count, 1 or more") }
    }

    func apply(to configuration: inout VaultConfiguration) {
        configuration.packsAtOnce = parallel
        configuration.policy.essentialInstalledSize = essentialSize?.bytes
        configuration.policy.installedSize = installedSize?.bytes
    }
}

/// What may come over the network of this run.
struct MeteredOptions: ParsableArguments {
    @Flag(help: "The network is metered: prefetch packs that are not asked for are left.")
    var metered = false

    @Option(
        help: ArgumentHelp(
            "Bytes of packs that may come over a metered network in this run, such as 100MB; what the host sends in vain counts, too.",
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

/// Limits of a run of the downloader.
struct DownloaderLimitOptions: ParsableArguments {
    @OptionGroup var time: TimeOption

    @Option(
        help: ArgumentHelp(
            "How much memory it may take, 32MiB or more, such as 64MiB: with less, fewer packs come at a time. A bare number counts bytes.",
            valueName: "bytes"))
    var memory = ByteCount(bytes: DownloaderBudget.leastMemory)

    @Option(
        help: ArgumentHelp(
            "Bytes that essential packs may take with the request 'install', with the metadata that are downloaded.",
            valueName: "bytes"))
    var essentialAllowance: ByteCount?

    @Option(
        help: ArgumentHelp(
            "Bytes that the other packs may take with the request 'install'.", valueName: "bytes"))
    var allowance: ByteCount?

    /// No run takes less, and a much smaller number is a mistaken unit.
    private static let leastMemory = ByteCount(bytes: DownloaderBudget.leastMemory)

    func validate() throws {
        guard memory.bytes >= Self.leastMemory.bytes else {
            throw ValidationError(
                "--memory takes \(Self.leastMemory) or more, such as 64MiB; \(memory.bytes) counts bytes")
        }
    }

    var budget: DownloaderBudget { DownloaderBudget(time: time.duration, memory: memory.bytes) }

    func apply(to configuration: inout VaultConfiguration) {
        configuration.policy.essentialDownloadAllowance = essentialAllowance?.bytes
        configuration.policy.downloadAllowance = allowance?.bytes
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
            throw ValidationError("--time takes seconds, more than 0")
        }
    }
}
