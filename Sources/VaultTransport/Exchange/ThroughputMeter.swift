import Synchronization

/// How fast a host sends, over all answers that one transfer takes from it: a host that ends each answer, or begins each
/// late, is as slow as one that trickles.
public final class ThroughputMeter: Sendable {
    private let floor = Mutex<ThroughputFloor?>(nil)

    public init() {}

    /// Windows that brought too little; each one that brought enough makes up for one.
    public var slowWindows: Int { floor.withLock { $0?.slowWindows ?? 0 } }

    /// Counts bytes, and the time that was spent waiting for them. False when a whole window has brought too little.
    func allows(_ count: Int, after wait: Duration, _ limits: TransportLimits) -> Bool {
        floor.withLock { floor in
            var counted = floor ?? ThroughputFloor(limits)
            defer { floor = counted }
            return counted.allows(count, after: wait)
        }
    }
}

/// An idle timeout alone is content with one byte now and then.
///
/// Only the time spent waiting for bytes counts, never what the reader does with them.
struct ThroughputFloor {
    private let limits: TransportLimits
    private var graceLeft: Duration
    private var waited: Duration = .zero
    private var bytes = 0
    private(set) var slowWindows = 0

    init(_ limits: TransportLimits) {
        self.limits = limits
        graceLeft = limits.grace
    }

    /// False when a whole window has brought too little.
    mutating func allows(_ count: Int, after wait: Duration) -> Bool {
        guard graceLeft <= .zero else {
            graceLeft -= wait
            return true
        }
        waited += wait
        bytes += count
        guard waited >= limits.window else { return true }
        let seconds = Double(waited.components.seconds) + Double(waited.components.attoseconds) * 1e-18
        defer { (waited, bytes) = (.zero, 0) }
        let isEnough = Double(bytes) >= seconds * Double(limits.bytesPerSecond)
        slowWindows = isEnough ? max(0, slowWindows - 1) : slowWindows + 1
        return isEnough
    }
}
