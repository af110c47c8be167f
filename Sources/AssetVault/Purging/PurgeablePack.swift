public import SealedPack
public import UpdateFramework

/// A loaded pack that may be removed when disk space is needed, and that nobody has in access.
public struct PurgeablePack: Sendable, Hashable {
    public enum Reason: String, Sendable {
        /// The app declared it purgeable.
        case declared
        /// Another variant of it serves the device.
        case replacedVariant
        /// It belongs to a resource tree, and is downloaded again when it is requested.
        case onDemand
    }

    public internal(set) var id: PackID
    /// Bytes that its removal frees.
    public let size: UInt64
    public let reason: Reason
    /// From 0 to 1: packs with less go first.
    public let preservation: Double
    /// When it was read last, to 10 seconds, or its access ended; nil for a pack that was never read.
    public let lastUse: UTCTime?
    /// Whether a running process has requested it.
    public let isOfRunningProcess: Bool

    /// The order in which packs go: by preservation priority, then by last use, then those that no running process has requested.
    static func goesFirst(_ left: Self, _ right: Self) -> Bool {
        if left.preservation != right.preservation { return left.preservation < right.preservation }
        let (leftUse, rightUse) = (left.lastUse ?? .earliest, right.lastUse ?? .earliest)
        if leftUse != rightUse { return leftUse < rightUse }
        if left.isOfRunningProcess != right.isOfRunningProcess { return right.isOfRunningProcess }
        return left.id < right.id
    }
}

extension PackRecord {
    /// Why the pack may be removed when disk space is needed; nil for one that stays.
    var purgeReason: PurgeablePack.Reason? {
        if isDeclaredPurgeable { return .declared }
        if isReplacedVariant { return .replacedVariant }
        guard !isKept, let offer = loaded?.pack.offer, offer.family != nil, offer.policy == .onDemand else {
            return nil
        }
        return .onDemand
    }
}
