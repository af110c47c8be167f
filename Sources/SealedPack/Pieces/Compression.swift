/// How strongly pieces are compressed; readers need not know it.
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
