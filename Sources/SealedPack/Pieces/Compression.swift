/// How hard to try to make pieces smaller. Whichever it was, a pack opens the same.
public enum Compression: String, Sendable, CaseIterable {
    case stored = "none"
    case fast
    case standard = "default"
    case max

    /// The zstd level; nil stores pieces as they are.
    var level: Int? {
        switch self {
        case .stored: nil
        case .fast: 1
        case .standard: 3
        case .max: 19
        }
    }
}
