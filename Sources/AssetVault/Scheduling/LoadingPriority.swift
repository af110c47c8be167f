/// How soon the work for a resource request is wanted.
public struct LoadingPriority: Sendable, Hashable {
    private enum Rank: Int {
        case whenIdle, ordered, urgent
    }

    private let rank: Rank
    /// From 0 to 1.
    public let value: Double

    /// Before everything else, with the whole line and all processors: other work of the client waits meanwhile.
    public static let urgent = LoadingPriority(.urgent, 1)
    /// 0.5.
    public static let standard: LoadingPriority = 0.5
    /// Behind everything else: only while nothing else is wanted of the client.
    public static let whenIdle = LoadingPriority(.whenIdle, 0)

    /// Whether it is ``urgent``.
    public var isUrgent: Bool { rank == .urgent }

    private init(_ rank: Rank, _ value: Double) { (self.rank, self.value) = (rank, value) }

    /// A value beyond 0...1 counts as the nearest one of these, and what is no number as 0.5.
    public init(_ value: Double) {
        self.init(.ordered, value.isNaN ? 0.5 : min(max(value, 0), 1))
    }

    /// Whether work of this priority and of another one may run at the same time.
    func sharesTheLine(with other: LoadingPriority) -> Bool { rank == other.rank }
}

extension LoadingPriority: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Double) { self.init(value) }
}

extension LoadingPriority: Comparable {
    public static func < (left: Self, right: Self) -> Bool {
        left.rank == right.rank ? left.value < right.value : left.rank.rawValue < right.rank.rawValue
    }
}
