public import VaultBase

/// A pattern for the paths of a source.
///
/// `*` matches any characters but `/`, `**` any characters, and `**/` any folders or none. A pattern without `/` is matched with
/// names at any depth, others with whole paths from the top of the source, and so is one that begins with `/`. One that
/// matches a folder matches everything in it.
public struct PathPattern: Sendable, Hashable {
    /// What may stand before a literal byte, or at the end.
    enum Gap: UInt8 {
        case none
        /// Bytes of one name.
        case name
        /// Whole folders with their slashes, so the next byte is the first one of a name.
        case folders
        case any

        /// Whether it continues with a byte.
        func admits(_ byte: UInt8) -> Bool {
            switch self {
            case .none: false
            case .name: byte != slash
            case .folders, .any: true
            }
        }
    }

    /// Its bytes without stars.
    private let literals: [UInt8]
    /// What each literal byte may follow; then what may follow the last one.
    private let gaps: [Gap]
    private let parts: [Part]
    let isName: Bool

    /// Matches every path.
    public static let all = PathPattern()

    private init() { (literals, gaps, parts, isName) = ([], [.any], [.star(.any)], false) }

    /// Matches one path, whatever characters it has, and what is below it.
    init(exactly path: [UInt8]) {
        literals = path
        gaps = Array(repeating: .none, count: path.count + 1)
        parts = path.map(Part.literal)
        isName = false
    }

    /// Throws `.usage` for an empty or unsupported pattern.
    public init(_ text: String) throws(VaultError) {
        var bytes = Array(text.utf8)[...]
        while bytes.last == slash { bytes.removeLast() }
        let unsupported = Array("?[{!".utf8)
        let isAnchored = bytes.first == slash
        if isAnchored { bytes.removeFirst() }
        guard !bytes.isEmpty, bytes.first != slash, !bytes.contains(where: unsupported.contains) else {
            throw VaultError(
                .usage, "the pattern '\(text.excerpt)' can match nothing", at: "source filter",
                remedy: "write patterns like '*.psd' or 'drafts/**', relative to the source")
        }
        isName = !isAnchored && !bytes.contains(slash)
        var literals: [UInt8] = []
        var gaps: [Gap] = []
        var parts: [Part] = []
        var gap = Gap.none
        while let byte = bytes.first {
            let stars = bytes.prefix { $0 == star }.count
            bytes.removeFirst(max(stars, 1))
            if stars == 0 {
                literals.append(byte)
                parts.append(.literal(byte))
                gaps.append(gap)
                gap = .none
                continue
            }
            let beginsName = gap == .folders || gap == .none && literals.last ?? slash == slash
            if stars > 1, beginsName, bytes.first == slash {
                bytes.removeFirst()
                parts.append(.star(.folders))
                gap = .folders
            } else {
                parts.append(.star(stars > 1 ? .any : .name))
                // Folders and then a part of a name are anything.
                gap = stars > 1 || gap == .folders ? .any : .name
            }
        }
        (self.literals, self.gaps, self.parts) = (literals, gaps + [gap], parts)
    }

    /// Whether the path or one of its folders matches.
    public func matches(_ path: [UInt8]) -> Bool {
        isName
            ? path.split(separator: slash).contains { matchesBeginning(of: $0) }
            : matchesBeginning(of: path[...])
    }

    /// Keeps all positions in the pattern that the text may have reached, so the work is at most the product of both lengths.
    private func matchesBeginning(of text: ArraySlice<UInt8>) -> Bool {
        var reached = [0]
        var next: [Int] = []
        var beginsName = true
        for byte in text {
            if byte == slash, reached.last == literals.count { return true }
            next.removeAll(keepingCapacity: true)
            for position in reached {
                let gap = gaps[position]
                // Positions ascend, so a double one is the last one.
                if gap.admits(byte), next.last != position { next.append(position) }
                if position < literals.count, literals[position] == byte, gap != .folders || beginsName {
                    next.append(position + 1)
                }
            }
            if next.isEmpty { return false }
            swap(&reached, &next)
            beginsName = byte == slash
        }
        return reached.last == literals.count
    }

    /// The literal bytes before the first star.
    private var beginning: ArraySlice<UInt8> {
        literals.prefix(gaps.firstIndex { $0 != .none } ?? literals.count)
    }
}

/// The literal bytes between its stars are its *runs*: one more than there are stars, some of them empty.
extension PathPattern {
    /// What it is made of, in the order in which it is written.
    enum Part: Hashable, Sendable {
        case literal(UInt8)
        case star(Gap)
    }

    var stars: [Part] { parts.filter { if case .star = $0 { true } else { false } } }

    var runs: [[UInt8]] {
        var runs: [[UInt8]] = [[]]
        for part in parts {
            switch part {
            case .literal(let byte): runs[runs.count - 1].append(byte)
            case .star: runs.append([])
            }
        }
        return runs
    }

    /// Where a path has the runs: each star stands for as little as possible, the first ones first. Of several names that match
    /// the last one counts, of several folders the longest path. Nil for a path that does not match.
    func ranges(ofRunsIn path: [UInt8]) -> [Range<Int>]? {
        if isName {
            return path.split(separator: slash).reversed().lazy.compactMap { ranges(ofRunsIn: $0) }.first
        }
        let ends = [path.count] + path.indices.reversed().filter { path[$0] == slash }
        return ends.lazy.compactMap { ranges(ofRunsIn: path[..<$0]) }.first
    }

    private func ranges(ofRunsIn text: ArraySlice<UInt8>) -> [Range<Int>]? {
        // Whether the rest of the parts, from each on, matches the rest of the text, from each byte on.
        let width = text.count + 1
        var matches = [Bool](repeating: false, count: (parts.count + 1) * width)
        matches[parts.count * width + text.count] = true
        for position in parts.indices.reversed() {
            for index in (0...text.count).reversed() {
                let byte = index < text.count ? text[text.startIndex + index] : nil
                matches[position * width + index] =
                    switch parts[position] {
                    case .literal(let literal): byte == literal && matches[(position + 1) * width + index + 1]
                    case .star(let gap):
                        ends(gap, at: index, of: text) && matches[(position + 1) * width + index]
                            || byte.map(gap.admits) ?? false && matches[position * width + index + 1]
                    }
            }
        }
        guard matches[0] else { return nil }
        var found: [Range<Int>] = []
        var (start, index) = (0, 0)
        for (position, part) in parts.enumerated() {
            if case .star(let gap) = part {
                found.append(text.startIndex + start..<text.startIndex + index)
                while index < text.count,
                    !(ends(gap, at: index, of: text) && matches[(position + 1) * width + index])
                {
                    index += 1
                }
                start = index
            } else {
                index += 1
            }
        }
        return found + [text.startIndex + start..<text.startIndex + index]
    }

    /// Whether a star may end before a byte: folders end where a name begins.
    private func ends(_ gap: Gap, at index: Int, of text: ArraySlice<UInt8>) -> Bool {
        gap != .folders || index == 0 || text[text.startIndex + index - 1] == slash
    }
}

extension PathPattern {
    /// What a path must have to match.
    enum Key: Hashable {
        /// A folder or file with this path.
        case path(ArraySlice<UInt8>)
        case name(ArraySlice<UInt8>)
        /// A name with this beginning.
        case start(ArraySlice<UInt8>)
        /// A name with this end; empty for all.
        case end(ArraySlice<UInt8>)
    }

    /// At least one. A path that matches has each of them.
    var keys: [Key] {
        let beginning = beginning
        if beginning.count == literals.count, gaps.last == Gap.none {
            return [isName ? .name(beginning) : .path(beginning)]
        }
        var keys: [Key] = []
        if let folder = beginning.lastIndex(of: slash) { keys.append(.path(beginning[..<folder])) }
        var (start, end, isWhole): ([UInt8], [UInt8], Bool) = ([], [], true)
        for part in parts + [.literal(slash)] {
            switch part {
            case .literal(slash), .star(.folders):
                if isWhole, !start.isEmpty { keys.append(.name(start[...])) }
                if !isWhole, !start.isEmpty { keys.append(.start(start[...])) }
                if !isWhole, !end.isEmpty { keys.append(.end(end[...])) }
                (start, end, isWhole) = ([], [], true)
            case .literal(let byte):
                if isWhole { start.append(byte) }
                end.append(byte)
            case .star: (end, isWhole) = ([], false)
            }
        }
        return keys.isEmpty ? [.end([])] : keys
    }
}

private let slash = UInt8(ascii: "/")
private let star = UInt8(ascii: "*")
