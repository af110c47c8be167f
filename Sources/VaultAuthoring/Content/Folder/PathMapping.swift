public import VaultBase

/// Other bytes for some that a pattern itself has, in the paths that match it: what its stars stand for stays.
public struct PathMapping: Sendable {
    private struct Change: Sendable {
        /// The number of the pattern's run, and which of its bytes.
        let run: Int
        let bytes: Range<Int>
        let replacement: [UInt8]
    }

    private let pattern: PathPattern
    private let changes: [Change]

    /// Such as `*.png` for `*@2x.png`: what the stars of the pattern stand for takes the place of those in the other one. Throws
    /// `.usage` for one with other stars.
    public init(from pattern: PathPattern, to text: String) throws(VaultError) {
        let target = try PathPattern(text)
        guard target.stars == pattern.stars, target.isName || !pattern.isName else {
            throw VaultError(
                .usage, "'\(text.excerpt)' has other stars than a pattern of the rule", at: "source filter",
                remedy: "use the same stars in the same order, and '/' only where the pattern has it")
        }
        self.pattern = pattern
        changes = zip(pattern.runs, target.runs).enumerated().compactMap { run, texts in
            let (old, new) = texts
            guard old != new else { return nil }
            let start = zip(old, new).prefix { $0 == $1 }.count
            let end = zip(old.dropFirst(start).reversed(), new.dropFirst(start).reversed())
                .prefix { $0 == $1 }.count
            return Change(
                run: run, bytes: start..<old.count - end, replacement: Array(new[start..<new.count - end]))
        }
    }

    /// Puts marks in place of words that the pattern has exactly once: not beside a further letter, or of digits a further digit.
    public init(of pattern: PathPattern, marking words: [(text: String, mark: [UInt8])]) {
        self.pattern = pattern
        var changes: [Change] = []
        for word in words {
            let found = pattern.runs.enumerated().flatMap { run, text in
                text.ranges(ofWord: Array(word.text.utf8)).map { (run: run, bytes: $0) }
            }
            guard found.count == 1, let place = found.first,
                !changes.contains(where: { $0.run == place.run && $0.bytes.overlaps(place.bytes) })
            else { continue }
            changes.append(Change(run: place.run, bytes: place.bytes, replacement: word.mark))
        }
        self.changes = changes
    }

    /// The changes of a path; nil for one that does not match.
    public func edits(of path: [UInt8]) -> [PathEdit]? {
        if changes.isEmpty { return pattern.matches(path) ? [] : nil }
        return pattern.ranges(ofRunsIn: path).map { runs in
            changes.map { change in
                let start = runs[change.run].lowerBound
                return PathEdit(
                    range: start + change.bytes.lowerBound..<start + change.bytes.upperBound,
                    bytes: change.replacement)
            }
        }
    }
}

/// Other bytes for a part of a path.
public struct PathEdit: Sendable, Hashable {
    public let range: Range<Int>
    public let bytes: [UInt8]

    /// The same in a longer path.
    public func shifted(by count: Int) -> PathEdit {
        PathEdit(range: range.lowerBound + count..<range.upperBound + count, bytes: bytes)
    }

    /// Whether the result depends on which of the two comes first.
    public func collides(with other: PathEdit) -> Bool {
        self != other
            && (range == other.range
                || range.lowerBound < other.range.upperBound && other.range.lowerBound < range.upperBound)
    }
}

extension [UInt8] {
    /// - Parameter edits: of which no two collide.
    public func edited(by edits: some Sequence<PathEdit>) -> [UInt8] {
        var path = self
        let last = Set(edits).sorted {
            ($0.range.lowerBound, $0.range.upperBound) > ($1.range.lowerBound, $1.range.upperBound)
        }
        for edit in last { path.replaceSubrange(edit.range, with: edit.bytes) }
        return path
    }

    /// Where a word stands by itself.
    public func ranges(ofWord word: [UInt8]) -> [Range<Int>] {
        guard let first = word.first, let last = word.last, word.count <= count else { return [] }
        return (0...count - word.count).compactMap { start in
            let end = start + word.count
            guard self[start..<end].elementsEqual(word),
                start == 0 || !self[start - 1].continues(first), end == count || !last.continues(self[end])
            else { return nil }
            return start..<end
        }
    }
}

extension UInt8 {
    private var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    private var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || self >= 0x80
    }

    /// Whether two neighbours are parts of one word.
    fileprivate func continues(_ other: UInt8) -> Bool {
        isDigit && other.isDigit || isLetter && other.isLetter
    }
}
