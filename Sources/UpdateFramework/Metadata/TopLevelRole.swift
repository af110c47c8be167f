/// The four top-level roles (TUF specification, section 2.1), in the order in which a client trusts them.
public enum TopLevelRole: String, Sendable, Hashable, CaseIterable {
    case root, timestamp, snapshot, targets

    /// The most bytes that are read for metadata of this type, whatever its parent says.
    public var sizeLimit: Int {
        switch self {
        case .root: 512_000
        case .timestamp: 16_384
        case .snapshot: 2_000_000
        case .targets: 64_000_000
        }
    }
}
