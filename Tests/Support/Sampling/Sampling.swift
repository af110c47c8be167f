import Foundation

/// How much of a long test runs: a random sample, or all of it with `ASSETVAULT_WHOLE`.
///
/// A sample follows from `ASSETVAULT_SEED`, and from the name of the test. Each use prints the seed, so that the same sample
/// can be run again.
public enum Sampling {
    /// Whether all of it runs.
    public static let isWhole = variable("ASSETVAULT_WHOLE") != nil

    /// One for all tests of the process; a new one each time unless it is given.
    public static let seed = variable("ASSETVAULT_SEED").flatMap { UInt64($0) } ?? .random(in: 1...999_999)

    /// How often something is repeated; in a whole run `ASSETVAULT_WHOLE` multiplies it.
    public static func rounds(_ count: Int, whole: Int) -> Int {
        isWhole ? whole * max(1, variable("ASSETVAULT_WHOLE").flatMap { Int($0) } ?? 1) : count
    }

    /// Every number of the range, or in a sample each `step`th from a random one on.
    public static func numbers(_ range: ClosedRange<Int>, each step: Int, for test: String) -> [Int] {
        guard !isWhole else { return Array(range) }
        var random = SeededGenerator(for: test)
        let first = range.lowerBound + Int.random(in: 0..<min(step, range.count), using: &random)
        return Array(stride(from: first, through: range.upperBound, by: step))
    }

    /// Each of one with each of the others; in a sample as few pairs as hold all of both.
    public static func pairs<One, Other>(_ ones: [One], _ others: [Other], for test: String) -> [(One, Other)]
    {
        guard !isWhole else { return ones.flatMap { one in others.map { (one, $0) } } }
        var random = SeededGenerator(for: test)
        let (ones, others) = (ones.shuffled(using: &random), others.shuffled(using: &random))
        guard !ones.isEmpty, !others.isEmpty else { return [] }
        return (0..<max(ones.count, others.count)).map { (ones[$0 % ones.count], others[$0 % others.count]) }
    }

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension Array {
    /// `count` elements at random, in their order; in a whole run all of them.
    public func sample(_ count: Int, for test: String) -> [Element] {
        guard !Sampling.isWhole, count < self.count else { return self }
        var random = SeededGenerator(for: test)
        return indices.shuffled(using: &random).prefix(count).sorted().map { self[$0] }
    }
}
