import ArgumentParser
import AssetVault

/// Limits of a run of the downloader.
struct BudgetOptions: ParsableArguments {
    @OptionGroup var time: TimeOption

    @Option(
        help: ArgumentHelp(
            "How much memory it may take, such as 64MiB: with less, fewer packs come at a time. A bare number counts bytes.",
            valueName: "bytes"))
    var memory = ByteCount(bytes: 32 << 20)

    @Option(
        help: ArgumentHelp(
            "Bytes that essential packs may take with the request 'install', metadata included.",
            valueName: "bytes"))
    var essentialAllowance: ByteCount?

    @Option(
        help: ArgumentHelp(
            "Bytes that the other packs may take with the request 'install'.", valueName: "bytes"))
    var allowance: ByteCount?

    /// A smaller number is a mistaken unit.
    private static let leastMemory = ByteCount(bytes: 64 << 10)

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
