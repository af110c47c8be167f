public import VaultErrors

/// A pattern for the paths of a source.
///
/// `*` matches any characters but `/`, `**` any characters. A pattern without `/` is matched with names at any depth, others
/// with whole paths from the top of the source, and so is one that begins with `/`. One that matches a folder matches
/// everything in it.
public struct PathPattern: Sendable, Hashable {
    /// What may stand before a literal byte, or at the end.
    private enum Gap: UInt8 {
        case none, name, any
    }

    /// Its bytes without stars.
    private let literals: [UInt8]
    /// What each literal byte may follow; then what may follow the last one.
    private let gaps: [Gap]
    let isName: Bool

    /// Matches every path.
    public static let all = PathPattern()

    private init() { (literals, gaps, isName) = ([], [.any], false) }

    /// Throws `.usage` for an empty or unsupported pattern.
    public init(_ text: String) throws(VaultError) {
        var bytes = Array(text.utf8)
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        let unsupported = Array("?[{!".utf8)
        let isAnchored = bytes.first == UInt8(ascii: "/")
        if isAnchored { bytes.removeFirst() }
        guard !bytes.isEmpty, bytes.first != UInt8(ascii: "/"), !bytes.contains(where: unsupported.contains)
        else {
            throw VaultError(
                .usage, "the pattern '\(text.excerpt)' can match nothing", at: "source filter",
                remedy: "write patterns like '*.psd' or 'drafts/**', relative to the source")
        }
        isName = !isAnchored && !bytes.contains(UInt8(ascii: "/"))
        var literals: [UInt8] = []
        var gaps: [Gap] = [.none]
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "*") else {
                literals.append(byte)
                gaps.append(.none)
                continue
            }
            let last = gaps.count - 1
            if rest.first == UInt8(ascii: "*") {
                rest.removeFirst()
                gaps[last] = .any
                // `a/**/b` matches `a/b` too.
                if rest.first == UInt8(ascii: "/") { rest.removeFirst() }
            } else if gaps[last] == .none {
                gaps[last] = .name
            }
        }
        (self.literals, self.gaps) = (literals, gaps)
    }

    /// Whether the path or one of its folders matches.
    public func matches(_ path: [UInt8]) -> Bool {
        var start = 0
        for end in path.segmentEnds {
            if matches(whole: path[(isName ? start : 0)..<end]) { return true }
            start = end + 1
        }
        return false
    }

    /// Keeps all positions in the pattern that the text may have reached, so the work is at most the product of both lengths.
    func matches(whole text: ArraySlice<UInt8>) -> Bool {
        guard gaps.contains(where: { $0 != .none }) else { return literals[...] == text }
        let (beginning, end) = (beginning, end)
        guard text.count >= literals.count, text.starts(with: beginning), text.suffix(end.count) == end else {
            return false
        }
        var reached = [0]
        for byte in text {
            var next: [Int] = []
            for position in reached {
                let stays = gaps[position] == .any || gaps[position] == .name && byte != UInt8(ascii: "/")
                // Positions ascend, so a double one is the last one.
                if stays, next.last != position { next.append(position) }
                if position < literals.count, literals[position] == byte { next.append(position + 1) }
            }
            if next.isEmpty { return false }
            reached = next
        }
        return reached.last == literals.count
    }

    /// The literal bytes before the first star.
    private var beginning: ArraySlice<UInt8> {
        literals.prefix(gaps.firstIndex { $0 != .none } ?? literals.count)
    }

    /// The literal bytes after the last star.
    private var end: ArraySlice<UInt8> {
        literals.dropFirst(gaps.lastIndex { $0 != .none } ?? 0)
    }
}

extension PathPattern {
    /// What a path must have to match.
    enum Key: Hashable {
        /// A folder or file with this path.
        case path(ArraySlice<UInt8>)
        case name(ArraySlice<UInt8>)
        /// A name, or a path that ends where a name ends, with this end; empty for all.
        case end(ArraySlice<UInt8>)
    }

    var key: Key {
        let beginning = beginning
        if beginning.count == literals.count, gaps.last == Gap.none {
            return isName ? .name(beginning) : .path(beginning)
        }
        if !isName, let slash = beginning.lastIndex(of: UInt8(ascii: "/")), slash > 0 {
            return .path(beginning[..<slash])
        }
        // A name never has a slash.
        let end = end
        return .end(end.lastIndex(of: UInt8(ascii: "/")).map { end[($0 + 1)...] } ?? end)
    }
}

extension [UInt8] {
    /// Where the names of a path end.
    var segmentEnds: [Int] { indices.filter { self[$0] == UInt8(ascii: "/") } + [count] }
}
