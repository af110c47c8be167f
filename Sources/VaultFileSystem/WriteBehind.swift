/// Lets the disk write what was written to a file, some MiB at a time, so that it does not stand still until
/// `synchronize()` and then everybody waits for it.
public struct WriteBehind: Sendable {
    private static let count = 8 << 20
    /// What the disk was not told of yet.
    private var pending: Range<UInt64> = 0..<0

    public init() {}

    /// Notes what was written, best front to back.
    public mutating func note(_ written: Range<UInt64>, in file: borrowing OpenFile) {
        let joined =
            min(pending.lowerBound, written.lowerBound)..<max(pending.upperBound, written.upperBound)
        guard !pending.isEmpty, joined.count > Self.count else {
            pending = pending.isEmpty ? written : joined
            return
        }
        file.beginWritingBack(pending)
        pending = written
    }
}
