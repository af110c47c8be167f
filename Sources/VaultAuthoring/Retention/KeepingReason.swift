public import UpdateFramework

/// Why a file of a site stays that is no part of what is published now.
public enum KeepingReason: Sendable, Hashable {
    /// This snapshot names it, or what lists it; a client may hold it until it expires.
    case namedBy(String, until: UTCTime)
    /// It belongs to one of the last versions of a pack, so that it can be restored.
    case restorable
    /// A draft that waits for signatures lists it.
    case pending
    /// It was live less than the grace time ago.
    case recent(until: UTCTime)
}

extension KeepingReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .namedBy(let name, let until): "kept by \(name) until \(until)"
        case .restorable: "kept for restore"
        case .pending: "kept for what waits in pending/"
        case .recent(let until): "kept until \(until): it was live a short time ago"
        }
    }
}
