extension Collection where Element == String {
    /// The first ones as a text, and how many more there are: `a, b and 3 more`.
    public func listed(upTo limit: Int) -> String {
        let rest = count - limit
        return prefix(limit).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}
