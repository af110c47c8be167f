import ArgumentParser
import VaultArchive

/// The limit of an archive's unpacked size.
struct UnpackingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            How many bytes an archive may unpack to (20GB, 64GiB), however small it is; by default 64 GiB, and more than 256 MiB only up \
            to 100 times the archive's own length.
            """, valueName: "bytes"))
    var maxUnpacked: ByteCount?

    var limit: UnpackingLimit { maxUnpacked.map { UnpackingLimit(total: $0.bytes) } ?? .standard }
}
