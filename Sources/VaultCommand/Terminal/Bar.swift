/// Draws a size beside a larger one.
enum Bar {
    /// Ten characters wide.
    static func text(_ size: UInt64, of whole: UInt64) -> String {
        let filled = whole == 0 ? 0 : min(10, Int((Double(size) / Double(whole) * 10).rounded(.up)))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: 10 - filled)
    }
}
