/// Many patterns, of which only those are tried that a path may match: a path costs what it matches, not the number of patterns.
public struct PathPatternIndex: Sendable, Hashable {
    public let patterns: [PathPattern]
    /// Positions of patterns.
    private var byKey: [PathPattern.Key: [Int]] = [:]
    /// The lengths of the ends among the keys, ascending.
    private var endLengths: [Int] = []

    public init(_ patterns: [PathPattern]) {
        self.patterns = patterns
        var lengths: Set<Int> = []
        for (position, pattern) in patterns.enumerated() {
            let key = pattern.key
            byKey[key, default: []].append(position)
            if case .end(let end) = key { lengths.insert(end.count) }
        }
        endLengths = lengths.sorted()
    }

    public var isEmpty: Bool { patterns.isEmpty }

    /// Whether a pattern matches the path or one of its folders.
    public func hasMatch(_ path: [UInt8]) -> Bool {
        candidates(for: path) { patterns[$0].matches(path) }
    }

    /// The positions of all patterns that match the path or one of its folders, ascending.
    public func matches(_ path: [UInt8]) -> [Int] {
        var found: Set<Int> = []
        _ = candidates(for: path) { position in
            if !found.contains(position), patterns[position].matches(path) { found.insert(position) }
            return false
        }
        return found.sorted()
    }

    /// Calls a function for each pattern that may match, until it returns true.
    private func candidates(for path: [UInt8], _ isEnough: (Int) -> Bool) -> Bool {
        guard !patterns.isEmpty else { return false }
        var start = 0
        for end in path.segmentEnds {
            let name = path[start..<end]
            if byKey[.path(path[..<end])]?.contains(where: isEnough) == true { return true }
            if byKey[.name(name)]?.contains(where: isEnough) == true { return true }
            for length in endLengths {
                guard length <= name.count else { break }
                if byKey[.end(name.suffix(length))]?.contains(where: isEnough) == true { return true }
            }
            start = end + 1
        }
        return false
    }
}
