/// The four top-level roles (TUF specification, section 2.1), in the order of verification.
public enum TopLevelRole: String, Sendable, Hashable, CaseIterable {
    case root, timestamp, snapshot, targets

    /// The maximum size in bytes, whatever the metadata above it says.
    public var sizeLimit: Int {
        switch self {
        case .root: 512_000
        case .timestamp: 16_384
        case .snapshot: 2_000_000
        case .targets: 64_000_000
        }
    }
}
