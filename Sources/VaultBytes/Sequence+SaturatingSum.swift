extension Sequence {
    /// The sum of sizes that others state; `.max` where it would overflow.
    public func saturatingSum(_ size: (Element) -> UInt64) -> UInt64 {
        reduce(0) { sum, element in
            let (next, isTooLarge) = sum.addingReportingOverflow(size(element))
            return isTooLarge ? .max : next
        }
    }
}
