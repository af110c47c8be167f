/// A cheap look at whether compressing a piece is in vain, as for images and sounds.
///
/// Measured on 719 MB of a game's assets in pieces of 128 KiB: a quarter of the time spent compressing is
/// saved, and the result grows by 0.03 %, because the few pieces whose repetitions lie between the samples
/// are stored.
enum RandomLook {
    /// Samples of 256 bytes, evenly spread.
    private static let sampleCount = 32
    /// The sum of the squares of how often each value occurs among 256 bytes: 511 on average for random
    /// ones, 65,536 if all are equal. 30 % more than random is seven standard deviations.
    private static let limit = 664

    /// Whether every sample's bytes are distributed as if they were random.
    static func describes(_ piece: Span<UInt8>) -> Bool {
        guard piece.count >= 4 * sampleCount * 256 else { return false }
        for number in 0..<sampleCount {
            let start = (piece.count - 256) / (sampleCount - 1) * number
            if sumOfSquares(piece.extracting(start..<start + 256)) > limit { return false }
        }
        return true
    }

    private static func sumOfSquares(_ sample: Span<UInt8>) -> Int {
        var occurrences = InlineArray<256, UInt16>(repeating: 0)
        var sum = 0
        for index in sample.indices {
            let value = Int(sample[index])
            sum += 2 * Int(occurrences[value]) + 1
            occurrences[value] += 1
        }
        return sum
    }
}
