/// How much of the work on several items is done; each counts by its size.
public struct WeightedWork<Item: Hashable & Sendable>: Sendable {
    private var parts: [Item: (size: Double, share: Double)] = [:]
    /// Of all items.
    public private(set) var size = 0.0
    /// The part of it that is done.
    public private(set) var done = 0.0

    public init() {}

    /// From 0 to 1; nil before any item is known.
    public var fraction: Double? { size > 0 ? min(1, done / size) : nil }

    public func knows(_ item: Item) -> Bool { parts[item] != nil }

    /// Adds an item, or gives it another size.
    public mutating func plan(_ item: Item, size: UInt64) {
        set(item, size: Double(size), share: parts[item]?.share ?? 0)
    }

    /// - Parameter share: how much of the item is done, from 0 to 1.
    public mutating func note(_ item: Item, share: Double) {
        guard let part = parts[item] else { return }
        set(item, size: part.size, share: min(max(share, 0), 1))
    }

    private mutating func set(_ item: Item, size: Double, share: Double) {
        let old = parts[item] ?? (0, 0)
        parts[item] = (size, share)
        self.size += size - old.size
        done += size * share - old.size * old.share
    }
}
