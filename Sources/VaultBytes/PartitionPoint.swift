extension Range<Int> {
    /// The first number for which `isBehind` holds, which holds for all that follow it too; the upper bound when there is
    /// none. By binary search.
    @inlinable public func partitionPoint(where isBehind: (Int) -> Bool) -> Int {
        var low = lowerBound
        var high = upperBound
        while low < high {
            let middle = low + (high - low) / 2
            if isBehind(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
