/// Many patterns, of which only those are tried that a path may match: a path costs what it matches, not the number of patterns.
public struct PathPatternIndex: Sendable, Hashable {
    private let patterns: [PathPattern]
    /// Positions of patterns.
    private var byKey: [PathPattern.Key: [Int]] = [:]
    /// The lengths of the beginnings and ends of names among the keys, ascending.
    private let startLengths: [Int]
    private let endLengths: [Int]

    public init(_ patterns: [PathPattern]) {
        self.patterns = patterns
        var shares: [PathPattern.Key: Int] = [:]
        let keys = patterns.map(\.keys)
        for key in keys.joined() { shares[key, default: 0] += 1 }
        var starts: Set<Int> = []
        var ends: Set<Int> = []
        for (position, keys) in keys.enumerated() {
            // The one that the fewest patterns have.
            guard let key = keys.min(by: { shares[$0] ?? 0 < shares[$1] ?? 0 }) else { continue }
            byKey[key, default: []].append(position)
            switch key {
            case .start(let start): starts.insert(start.count)
            case .end(let end): ends.insert(end.count)
            case .path, .name: break
            }
        }
        (startLengths, endLengths) = (starts.sorted(), ends.sorted())
    }

    var isEmpty: Bool { patterns.isEmpty }

    /// Whether a pattern matches the path or one of its folders.
    public func hasMatch(_ path: [UInt8]) -> Bool {
        hasCandidate(for: path) { patterns[$0].matches(path) }
    }

    /// The positions of all patterns that match the path or one of its folders, ascending.
    public func matches(_ path: [UInt8]) -> [Int] {
        var found: Set<Int> = []
        _ = hasCandidate(for: path) { position in
            if !found.contains(position), patterns[position].matches(path) { found.insert(position) }
            return false
        }
        return found.sorted()
    }

    /// Tries the patterns that may match, until one is taken. One that has its key at several places is tried at each.
    private func hasCandidate(for path: [UInt8], taking take: (Int) -> Bool) -> Bool {
        guard !isEmpty else { return false }
        for name in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            var keys: [PathPattern.Key] = [.path(path[..<name.endIndex]), .name(name)]
            keys += startLengths.prefix { $0 <= name.count }.map { .start(name.prefix($0)) }
            keys += endLengths.prefix { $0 <= name.count }.map { .end(name.suffix($0)) }
            if keys.contains(where: { byKey[$0]?.contains(where: take) ?? false }) { return true }
        }
        return false
    }
}
