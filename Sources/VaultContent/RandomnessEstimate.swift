/// A cheap look at whether compressing a piece is in vain, as for images and sounds.
///
/// Measured on 719 MB of a game's assets in pieces of 128 KiB: two fifths of the time spent compressing are saved, and the
/// result grows by 0.05 %, because repetitions between the samples and a few percent of text among noise go unseen.
enum RandomnessEstimate {
    /// Samples of 256 bytes, evenly spread.
    private static let sampleCount = 32
    /// The sum of the squares of how often each value occurs among 256 bytes: 511 on average for random ones, about 4,000
    /// for text, 65,536 if all are equal. What compresses to less than nine tenths has a mean over 1,000.
    private static let limit = 700 * sampleCount

    /// Whether the samples' bytes are on average distributed almost as if they were random.
    static func describes(_ piece: Span<UInt8>) -> Bool {
        guard piece.count >= 4 * sampleCount * 256 else { return false }
        var total = 0
        for number in 0..<sampleCount {
            let start = (piece.count - 256) / (sampleCount - 1) * number
            total += sumOfSquares(piece.extracting(start..<start + 256))
            if total > limit { return false }
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
