public import VaultErrors

/// Selects the files of a source: those that match an `include` pattern (all, if there are none) and no `exclude`
/// pattern.
///
/// `*` matches any characters but `/`, `**` any characters. A pattern without `/` is matched with names at any depth,
/// others with whole paths, and so is one that begins with `/`; one that matches a folder matches everything in it.
public struct SourceFilter: Sendable, Hashable {
    private let include: [Pattern]
    private let exclude: [Pattern]

    /// Throws `.usage` for an empty or unsupported pattern.
    public init(include: [String], exclude: [String]) throws(VaultError) {
        self.include = try include.map { text throws(VaultError) in try Pattern(text) }
        self.exclude = try exclude.map { text throws(VaultError) in try Pattern(text) }
    }

    public static let all = SourceFilter()

    private init() {
        include = []
        exclude = []
    }

    /// Whether `name` in `folder` (empty, or with a final slash) is excluded, with everything below it.
    func excludes(_ folder: [UInt8], _ name: [UInt8]) -> Bool {
        !exclude.isEmpty && exclude.contains { $0.matches(folder + name) }
    }

    /// Whether a file or empty folder that is not excluded is included.
    func includes(_ folder: [UInt8], _ name: [UInt8]) -> Bool {
        include.isEmpty || include.contains { $0.matches(folder + name) }
    }

    /// Whether a whole path is included and not excluded.
    public func takes(_ path: [UInt8]) -> Bool { !excludes([], path) && includes([], path) }

    private struct Pattern: Sendable, Hashable {
        let bytes: [UInt8]
        let isName: Bool

        init(_ text: String) throws(VaultError) {
            var bytes = Array(text.utf8)
            while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
            let unsupported = Array("?[{!".utf8)
            let isAnchored = bytes.first == UInt8(ascii: "/")
            if isAnchored { bytes.removeFirst() }
            guard !bytes.isEmpty, bytes.first != UInt8(ascii: "/"),
                !bytes.contains(where: unsupported.contains)
            else {
                throw VaultError(
                    .usage, "the pattern '\(text)' can match nothing", at: "source filter",
                    remedy: "write patterns like '*.psd' or 'drafts/**', relative to the source")
            }
            self.bytes = bytes
            isName = !isAnchored && !bytes.contains(UInt8(ascii: "/"))
        }

        /// Whether the path or one of its folders matches.
        func matches(_ text: [UInt8]) -> Bool {
            var start = 0
            for end in text.indices.filter({ text[$0] == UInt8(ascii: "/") }) + [text.count] {
                if Self.matches(bytes[...], text[(isName ? start : 0)..<end]) { return true }
                start = end + 1
            }
            return false
        }

        /// Backtracks only to the last star of each kind, so the work is bounded by the product of both lengths for
        /// each `**`.
        private static func matches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
            var pattern = pattern
            var text = text
            var retry: (pattern: ArraySlice<UInt8>, text: ArraySlice<UInt8>)?
            while true {
                if pattern.starts(with: "**".utf8) {
                    let rest = pattern.dropFirst(2)
                    // `a/**/b` matches `a/b` too.
                    let tail = rest.first == UInt8(ascii: "/") ? rest.dropFirst() : rest
                    for cut in text.startIndex...text.endIndex where matches(tail, text[cut...]) {
                        return true
                    }
                    return false
                }
                if pattern.first == UInt8(ascii: "*") {
                    retry = (pattern, text)
                    pattern = pattern.dropFirst()
                    continue
                }
                if let wanted = pattern.first, wanted == text.first {
                    pattern = pattern.dropFirst()
                    text = text.dropFirst()
                    continue
                }
                if pattern.isEmpty, text.isEmpty { return true }
                guard let last = retry, let skipped = last.text.first, skipped != UInt8(ascii: "/") else {
                    return false
                }
                retry = (last.pattern, last.text.dropFirst())
                pattern = last.pattern.dropFirst()
                text = last.text.dropFirst()
            }
        }
    }
}
