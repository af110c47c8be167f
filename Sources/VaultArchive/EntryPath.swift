public import VaultErrors

/// A relative path that is safe to create below any folder, on any file system.
///
/// A path is made only by passing every rule: valid UTF-8, at most 4,096 bytes in at most 64 segments of
/// at most 255 bytes, no empty, `.` or `..` segment, not absolute, no backslash, NUL or other control
/// character (C0, DEL, C1). Equality, order and hash go by the UTF-8 bytes, never by canonical equivalence.
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
        if let rule = Self.brokenRule(of: utf8) {
            throw Self.error(rule, naming: utf8)
        }
        utf8Bytes = unsafe utf8.withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// Checks every rule.
    ///
    /// - Throws: `.corrupt`, naming the entry and the rule it breaks.
    public init(_ path: String) throws(VaultError) {
        try self.init(Array(path.utf8).span)
    }

    /// For bytes that passed the rules before.
    init(checked bytes: [UInt8]) {
        utf8Bytes = bytes
    }

    /// The path as text.
    public var string: String { String(decoding: utf8Bytes, as: UTF8.self) }

    /// The names on the way, at least one.
    public var segments: [String] {
        utf8Bytes.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The last segment.
    public var name: String {
        let start = utf8Bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return String(decoding: utf8Bytes[start...], as: UTF8.self)
    }

    /// The folder that holds this entry, nil at the top.
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

// MARK: The rules

extension EntryPath {
    private static func brokenRule(of path: Span<UInt8>) -> StaticString? {
        if path.isEmpty { return "the name is empty" }
        if path.count > maximumByteCount { return "the path is longer than 4,096 bytes" }
        if path[0] == UInt8(ascii: "/") { return "the path is absolute" }
        guard (try? UTF8Span(validating: path)) != nil else { return "the name is not UTF-8" }
        var depth = 0
        var start = 0
        while start <= path.count {
            var end = start
            while end < path.count, path[end] != UInt8(ascii: "/") {
                if let rule = brokenRule(ofByteAt: end, in: path) { return rule }
                end += 1
            }
            if let rule = brokenRule(ofSegment: path.extracting(start..<end)) { return rule }
            depth += 1
            start = end + 1
        }
        return depth > maximumDepth ? "the path is more than 64 levels deep" : nil
    }

    private static func brokenRule(ofByteAt index: Int, in path: Span<UInt8>) -> StaticString? {
        switch path[index] {
        case 0: "the name holds a NUL character"
        case 0x01..<0x20, 0x7F: "the name holds a control character"
        // U+0080 to U+009F; the text is valid UTF-8, so a byte follows.
        case 0xC2 where path[index + 1] < 0xA0: "the name holds a control character"
        case UInt8(ascii: "\\"): "the name holds a backslash"
        default: nil
        }
    }

    private static func brokenRule(ofSegment segment: Span<UInt8>) -> StaticString? {
        let dot = UInt8(ascii: ".")
        return switch segment.count {
        case 0: "the path has an empty segment"
        case 1 where segment[0] == dot: "the path has a '.' segment"
        case 2 where segment[0] == dot && segment[1] == dot: "the path has a '..' segment"
        case (maximumSegmentByteCount + 1)...: "a segment is longer than 255 bytes"
        default: nil
        }
    }

    private static func error(_ rule: StaticString, naming path: Span<UInt8>) -> VaultError {
        let shown = path.extracting(first: 200)
        let bytes = shown.indices.map { shown[$0] }
        let name = String(decoding: bytes, as: UTF8.self) + (shown.count < path.count ? "…" : "")
        return VaultError(
            .corrupt, rule.description, at: "entry '\(name.escapingControls)'",
            remedy: "rename or leave out the entry in the source")
    }
}
