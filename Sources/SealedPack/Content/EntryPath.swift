public import VaultBase

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

extension EntryPath {
    /// The first rule that a whole path breaks, as a clause for an error; nil if it breaks none.
    ///
    /// - Parameter checkedPrefix: length of a prefix shared with a path that breaks no rule.
    static func brokenRule(of path: Span<UInt8>, checkedPrefix: Int) -> StaticString? {
        if path.isEmpty { return "the path is empty" }
        if path.count > maximumByteCount { return "the path is longer than 4,096 bytes" }
        if path[0] == UInt8(ascii: "/") { return "the path is absolute" }
        var depth = 0
        var start = 0
        // Whole segments of the checked prefix are valid.
        for index in 0..<min(checkedPrefix, path.count) where path[index] == UInt8(ascii: "/") {
            depth += 1
            start = index + 1
        }
        while start <= path.count {
            var end = start
            while end < path.count, path[end] != UInt8(ascii: "/") { end += 1 }
            if let rule = brokenRule(ofName: path.extracting(start..<end)) { return rule }
            depth += 1
            if depth > maximumDepth { return "the path is more than 64 levels deep" }
            start = end + 1
        }
        return nil
    }

    /// The first rule that one segment, without slashes, breaks.
    package static func brokenRule(ofName name: Span<UInt8>) -> StaticString? {
        let dot = UInt8(ascii: ".")
        switch name.count {
        case 0: return "the path has an empty segment"
        case 1 where name[0] == dot: return "the path has a '.' segment"
        case 2 where name[0] == dot && name[1] == dot: return "the path has a '..' segment"
        case 0...maximumSegmentByteCount: break
        default: return "a segment of the path is longer than 255 bytes"
        }
        var isASCII = true
        for index in name.indices {
            switch name[index] {
            case 0: return "the name holds a NUL character"
            case 0x01..<0x20, 0x7F: return "the name holds a control character"
            case UInt8(ascii: "\\"): return "the name holds a backslash"
            case 0x80...: isASCII = false
            default: break
            }
        }
        return isASCII ? nil : brokenRule(ofUnicodeName: name)
    }

    private static func brokenRule(ofUnicodeName name: Span<UInt8>) -> StaticString? {
        guard (try? UTF8Span(validating: name)) != nil else { return "the name is not UTF-8" }
        // U+0080 to U+009F.
        for index in name.indices.dropLast() where name[index] == 0xC2 && name[index + 1] < 0xA0 {
            return "the name holds a control character"
        }
        return nil
    }

    /// An unchecked path, truncated and escaped for an error.
    package static func quoted(_ path: Span<UInt8>) -> String {
        let shown = path.extracting(first: 200)
        let text = String(decoding: shown.indices.map { shown[$0] }, as: UTF8.self)
        return "'\(text.escapingControls)\(shown.count < path.count ? "…" : "")'"
    }
}

extension EntryPath {
    /// The case-folded path. Keys of paths that are one on some file system are equal by `==`, which is Unicode
    /// canonical equivalence in Swift.
    ///
    /// Folding differs from Unicode's only for a few rare sequences: lower, upper, and lower again, each by the full
    /// mapping of every scalar, so that ß and ẞ both become ss.
    public var collisionKey: String {
        let isASCII = utf8Bytes.allSatisfy { $0 < 0x80 }
        return isASCII ? string.lowercased() : string.lowercased().uppercased().lowercased()
    }
}
