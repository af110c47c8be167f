import VaultErrors

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
