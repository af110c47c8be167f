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
        reduce(0) { sum, element in
            let (next, isTooLarge) = sum.addingReportingOverflow(size(element))
            return isTooLarge ? .max : next
        }
    }
}
