/// A cheap estimate whether a piece is incompressible, such as images and sounds.
///
/// Measured on 719 MB of a game's assets in pieces of 128 KiB: it saves two fifths of the compression time, and the
/// result grows by 0.05 %, as repetitions between the samples and a few percent of text among noise are missed.
enum RandomnessEstimate {
    /// Samples of 256 bytes, evenly spread.
    private static let sampleCount = 32
    /// For the sum of the squared occurrences of each value among 256 bytes: 511 on average for random ones, about
    /// 4,000 for text, 65,536 if all are equal. Data that compresses to less than nine tenths has a mean over 1,000.
    private static let limit = 700 * sampleCount

    /// Whether the samples' bytes are distributed almost like random ones.
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
