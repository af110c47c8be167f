/// A goal: an upper limit.
enum Goal: Sendable {
    /// Times the wall time of this contender, which the first may take.
    case wall(Double)
    /// Milliseconds that the first may take longer than this one.
    case millisecondsBeyond(Double)
    /// KiB that the first may read more than this one.
    case kibibytesReadBeyond(Double)
    /// MiB of memory that this contender itself may have at its worst.
    case peakMebibytes(Double)

    /// Whether the goal is reached after the rounds.
    func verdict(of work: String, _ ours: Outcome.Entry, beside other: Outcome.Entry) -> Verdict {
        switch self {
        case .wall(let most):
            Verdict(
                work: work, figure: "wall time, ratio to \(other.name)",
                measured: ours.median(\.wall) / other.median(\.wall), most: most)
        case .millisecondsBeyond(let most):
            Verdict(
                work: work, figure: "wall time beyond \(other.name), ms",
                measured: (ours.median(\.wall) - other.median(\.wall)) * 1000, most: most)
        case .kibibytesReadBeyond(let most):
            Verdict(
                work: work, figure: "read beyond \(other.name), KiB",
                measured: (ours.median { Double($0.read) } - other.median { Double($0.read) }) / 1024,
                most: most)
        case .peakMebibytes(let most):
            Verdict(
                work: work, figure: "peak memory of \(other.name), MiB",
                measured: Double(other.peakMemory) / Double(1 << 20), most: most)
        }
    }
}

/// The result of a goal.
struct Verdict: Codable, Sendable {
    let work: String
    /// What was measured, with its unit.
    let figure: String
    let measured: Double
    let most: Double

    var isMet: Bool { measured <= most }
}
