import VaultBase

/// The most bytes that an archive may unpack to, as a few kilobytes can fill any disk.
public struct UnpackingLimit: Sendable, Equatable {
    /// The most bytes, whatever the archive's own length.
    let total: UInt64
    /// How many times its own length an archive may unpack to; nil for any.
    let ratio: UInt64?

    /// Bytes that every archive may unpack to.
    static let alwaysAllowed: UInt64 = 256 << 20

    /// 64 GiB in all, and more than 256 MiB only up to 100 times the archive's own length.
    public static let standard = UnpackingLimit(total: 64 << 30, ratio: 100)

    private init(total: UInt64, ratio: UInt64?) {
        self.total = total
        self.ratio = ratio
    }

    /// - Parameter total: the user's limit, for archives of any length.
    public init(total: UInt64) {
        self.init(total: total, ratio: nil)
    }

    /// The most bytes that an archive of `length` bytes may unpack to.
    func maximum(ofArchive length: UInt64) -> UInt64 {
        guard let ratio else { return total }
        let (product, overflows) = length.multipliedReportingOverflow(by: ratio)
        return min(total, max(Self.alwaysAllowed, overflows ? .max : product))
    }
}

/// The bytes that one archive has unpacked to so far.
final class UnpackedByteCounter {
    private let limit: UnpackingLimit
    private let source: FileSource
    private var count: UInt64 = 0

    init(of source: FileSource, limit: UnpackingLimit) {
        self.source = source
        self.limit = limit
    }

    /// Counts bytes before they are written, and those of holes, which are sealed as zeros. Throws `.limit` beyond the
    /// limit.
    func add(_ bytes: Int64) throws(VaultError) {
        let (sum, overflows) = count.addingReportingOverflow(UInt64(clamping: bytes))
        count = overflows ? .max : sum
        // The length of a stream is that read so far.
        let length = try source.size() ?? source.delivered
        let maximum = limit.maximum(ofArchive: length)
        guard count <= maximum else {
            throw VaultError(
                .limit,
                maximum == limit.total
                    ? "it unpacks to more than \(maximum) bytes"
                    : "it unpacks to more than \(maximum) bytes, \(maximum / max(1, length)) times its own length",
                at: source.name, remedy: "if you trust the archive, allow more",
                hint: .unpackingLimit)
        }
    }
}
