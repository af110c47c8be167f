extension BinaryInteger {
    /// The number with a noun, in the plural unless it is one: `1 piece`, `2 pieces`.
    public func counting(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
