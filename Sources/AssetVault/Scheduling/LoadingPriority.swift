/// How soon the work for a resource request is wanted.
public struct LoadingPriority: Sendable, Hashable {
    /// From 0 to 1.
    public let value: Double
    /// Whether it is ``urgent``.
    public let isUrgent: Bool

    /// Before everything else: other work of the client waits meanwhile.
    public static let urgent = LoadingPriority(value: 1, isUrgent: true)
    /// 0.5.
    public static let standard: LoadingPriority = 0.5

    private init(value: Double, isUrgent: Bool) { (self.value, self.isUrgent) = (value, isUrgent) }

    /// A value beyond 0...1 counts as the nearest one of these, and what is no number as 0.5.
    public init(_ value: Double) {
        self.init(value: value.isNaN ? 0.5 : min(max(value, 0), 1), isUrgent: false)
    }
}

extension LoadingPriority: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Double) { self.init(value) }
}

extension LoadingPriority: Comparable {
    public static func < (left: Self, right: Self) -> Bool {
        left.isUrgent == right.isUrgent ? left.value < right.value : right.isUrgent
    }
}
