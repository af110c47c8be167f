extension BinaryInteger {
    /// The number with a noun, plural unless it is 1: `1 piece`, `2 pieces`.
    public func counting(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
