extension [Range<UInt64>] {
    /// Whether one of these ascending, disjoint ranges contains `range`.
    package func cover(_ range: Range<UInt64>) -> Bool {
        let first = indices.partitionPoint { self[$0].upperBound >= range.upperBound }
        return first < endIndex && self[first].lowerBound <= range.lowerBound
    }
}

extension Range<Int> {
    /// Binary search: the first value for which `predicate` is true, given that it is true for all later values too;
    /// else the upper bound.
    @inlinable public func partitionPoint(where predicate: (Int) -> Bool) -> Int {
        var low = lowerBound
        var high = upperBound
        while low < high {
            let middle = low + (high - low) / 2
            if predicate(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Sequence {
    /// The sum of sizes that others state; `.max` where it would overflow.
    public func saturatingSum(_ size: (Element) -> UInt64) -> UInt64 {
        reduce(0) { $0.saturatingAdding(size($1)) }
    }
}

extension UInt64 {
    /// The sum of two sizes that others state; `.max` where it would overflow.
    public func saturatingAdding(_ other: UInt64) -> UInt64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }

    public mutating func saturatingAdd(_ other: UInt64) { self = saturatingAdding(other) }

    /// The nearest integer: 0 for negative numbers, `.max` for what is too large or no number.
    public init(clamping number: Double) { self = UInt64(exactly: Swift.max(0, number).rounded()) ?? .max }
}
