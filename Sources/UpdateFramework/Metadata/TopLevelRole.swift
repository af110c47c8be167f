/// The four top-level roles (TUF specification, section 2.1), in the order in which a client trusts them.
public enum TopLevelRole: String, Sendable, Hashable, CaseIterable {
    case root, timestamp, snapshot, targets

    /// The name of the role's file inside metadata and in a client's store, such as `snapshot.json`.
    public var fileName: String { "\(rawValue).json" }

    /// The name of one version's file at a host that keeps consistent snapshots, such as `7.snapshot.json`;
    /// the timestamp never has a version in its name (section 6.2.1).
    public func hostedName(version: Int64) -> String {
        self == .timestamp ? fileName : "\(version).\(fileName)"
    }

    /// The most bytes that are read for the role, whatever its parent says.
    public var sizeLimit: Int {
        switch self {
        case .root: 512_000
        case .timestamp: 16_384
        case .snapshot: 2_000_000
        case .targets: 64_000_000
        }
    }
}
