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
