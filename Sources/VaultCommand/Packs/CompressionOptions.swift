public import ArgumentParser
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
