public import VaultErrors

/// A relative path that is safe to create below any folder, on any file system.
///
/// It satisfies every rule: valid UTF-8, at most 4,096 bytes in at most 64 segments of at most 255 bytes, no empty, `.`
/// or `..` segment, not absolute, no backslash, NUL or other control character (C0, DEL, C1). Equality, order and hash
/// use the UTF-8 bytes, never canonical equivalence.
public struct EntryPath: Sendable, Hashable {
    /// The most bytes a path may have.
    public static let maximumByteCount = 4_096
    /// The most segments a path may have.
    public static let maximumDepth = 64
    /// The most bytes a segment may have, the limit of Linux file systems.
    public static let maximumSegmentByteCount = 255

    /// The whole path, segments joined by `/`.
    public let utf8Bytes: [UInt8]

    /// Checks every rule.
    ///
    /// - Throws: `.corrupt`, naming the entry and the rule it breaks.
    public init(_ utf8: Span<UInt8>) throws(VaultError) {
        try Self.check(utf8)
        utf8Bytes = unsafe utf8.withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// Checks every rule.
    ///
    /// - Throws: `.corrupt`, naming the entry and the rule it breaks.
    public init(_ path: String) throws(VaultError) {
        try self.init(Array(path.utf8).span)
    }

    /// Checks every rule without copying the path.
    ///
    /// - Parameter checkedPrefix: length of a prefix shared with a checked path.
    /// - Throws: `.corrupt`, naming the entry and the rule it breaks.
    public static func check(_ utf8: Span<UInt8>, checkedPrefix: Int = 0) throws(VaultError) {
        if let rule = brokenRule(of: utf8, checkedPrefix: checkedPrefix) {
            throw VaultError(
                .corrupt, rule.description, at: "entry \(quoted(utf8))",
                remedy: "rename the entry or leave it out")
        }
    }

    /// For bytes that are already checked.
    package init(checked bytes: [UInt8]) {
        utf8Bytes = bytes
    }

    /// The path as text.
    public var string: String { String(decoding: utf8Bytes, as: UTF8.self) }

    /// The segments of the path, at least one.
    public var segments: [String] {
        utf8Bytes.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The last segment.
    public var name: String {
        let start = utf8Bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return String(decoding: utf8Bytes[start...], as: UTF8.self)
    }

    /// The folder of this entry, nil at the top.
    public var parent: EntryPath? {
        utf8Bytes.lastIndex(of: UInt8(ascii: "/")).map { EntryPath(checked: Array(utf8Bytes[..<$0])) }
    }
}

extension EntryPath: Comparable {
    public static func < (left: EntryPath, right: EntryPath) -> Bool {
        left.utf8Bytes.lexicographicallyPrecedes(right.utf8Bytes)
    }
}

extension EntryPath: CustomStringConvertible {
    public var description: String { string.escapingControls }
}
