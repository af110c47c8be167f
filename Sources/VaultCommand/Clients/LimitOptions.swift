import ArgumentParser
import AssetVault

/// Limits of a client.
struct LimitOptions: ParsableArguments {
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
