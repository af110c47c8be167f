public import ArgumentParser
import PackSources
public import SealedPack

extension Compression: ExpressibleByArgument {}

/// The level of compression.
struct CompressionOptions: ParsableArguments {
    @Option(
        help: """
            How hard to compress what is sealed anew: 'max' takes many times as long, and 90 MB of memory a core; it is for what is sealed once and \
            downloaded often. Unchanged pieces of an earlier version stay as they are.
            """)
    var compression: Compression?
}

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
