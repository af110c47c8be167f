public import VaultBase

/// A version of an app: numbers separated by full stops, such as `2.1`. Missing numbers count as 0.
public struct AppVersion: Sendable {
    private let numbers: [UInt32]
    private static let countLimit = 8

    /// Below every other version, or equal to it.
    public static let first = AppVersion(numbers: [0])

    private init(numbers: [UInt32]) { self.numbers = numbers }

    /// Throws `.usage` for anything but 1 to 8 numbers below 2^32.
    public init(_ text: String) throws(VaultError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? UInt32(part) : nil
        }
        guard numbers.count == parts.count, numbers.count <= Self.countLimit else {
            throw VaultError(
                .usage, "'\(text.excerpt)' is not a version of an app", at: "app version",
                remedy: "write numbers separated by full stops, such as 2.1")
        }
        self.numbers = numbers
    }

    /// Without zeros at the end.
    private var significant: ArraySlice<UInt32> {
        numbers.prefix(1 + (numbers.lastIndex { $0 != 0 } ?? -1))
    }
}

extension AppVersion: Hashable, Comparable, CustomStringConvertible {
    public static func == (left: Self, right: Self) -> Bool { left.significant == right.significant }

    public func hash(into hasher: inout Hasher) { hasher.combine(significant) }

    public static func < (left: Self, right: Self) -> Bool {
        left.significant.lexicographicallyPrecedes(right.significant)
    }

    public var description: String { numbers.map(String.init).joined(separator: ".") }
}

/// The versions of an app that a version of a pack is for.
public struct AppVersionRange: Sendable, Hashable {
    /// The first one; nil for no lower bound.
    public var from: AppVersion?
    /// The first version above the range; nil for no upper bound.
    public var before: AppVersion?

    public static let all = AppVersionRange()

    public init(from: AppVersion? = nil, before: AppVersion? = nil) {
        (self.from, self.before) = (from, before)
    }

    public func admits(_ app: AppVersion) -> Bool {
        from.map { $0 <= app } ?? true && before.map { app < $0 } ?? true
    }
}

extension AppVersionRange: CustomStringConvertible {
    public var description: String {
        let bounds = [from.map { "from \($0)" }, before.map { "before \($0)" }].compactMap(\.self)
        return bounds.isEmpty ? "all" : bounds.joined(separator: ", ")
    }
}

extension AppVersionRange {
    /// Reads the member `"apps"` of a manifest. Throws `.corrupt`.
    init(parsing json: JSONObject, place: String) throws(VaultError) {
        func bound(_ name: String) throws(VaultError) -> AppVersion? {
            guard let text = try json.optionalString(name, at: place) else { return nil }
            do throws(VaultError) { return try AppVersion(text) } catch {
                throw VaultError(.corrupt, error.problem, at: place, remedy: "get the manifest again")
            }
        }
        self.init(from: try bound("from"), before: try bound("before"))
    }

    var json: JSONObject {
        var json = JSONObject()
        json["from"] = from.map { .string($0.description) }
        json["before"] = before.map { .string($0.description) }
        return json
    }
}
