/// Starts writing a file's data to the disk, some MiB at a time, so that `synchronize()` has less to wait for.
public struct WriteBehind: Sendable {
    private static let length = 8 << 20
    /// Written, but not passed to the disk yet.
    private var pending: Range<UInt64> = 0..<0

    public init() {}

    /// Records a written range, preferably in ascending order.
    public mutating func note(_ written: Range<UInt64>, in file: borrowing OpenFile) {
        let joined =
            min(pending.lowerBound, written.lowerBound)..<max(pending.upperBound, written.upperBound)
        guard !pending.isEmpty, joined.count > Self.length else {
            pending = pending.isEmpty ? written : joined
            return
        }
        file.beginWritingBack(pending)
        pending = written
    }
}
