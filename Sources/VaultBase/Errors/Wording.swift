/// The known name that a mistyped one probably means.
public enum Suggestion {
    /// Limit of compared names, in bytes: the distance of longer ones takes too long.
    private static let limit = 256

    /// The nearest of the known names; nil when none is near. A name without its folders is near, too.
    public static func nearest(to name: String, among known: some Sequence<String>) -> String? {
        let word = Array(name.lowercased().utf8)
        guard !word.isEmpty, word.count <= limit else { return nil }
        var best: (name: String, distance: Int)?
        for candidate in known where candidate.utf8.count <= limit {
            let other = Array(candidate.lowercased().utf8)
            let isEnding =
                other.count > word.count && other.suffix(word.count + 1).elementsEqual([0x2F] + word)
            let distance = isEnding ? 1 : distance(word, other)
            guard distance <= max(1, max(word.count, other.count) / 3) else { continue }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// The same as the end of a sentence.
    public static func question(for name: String, among known: some Sequence<String>) -> String {
        nearest(to: name, among: known).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// The number of bytes to insert, remove, replace, or swap with the next one.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var before: [Int] = []
        var last = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var next = [row + 1]
            for (column, other) in right.enumerated() {
                var best = min(last[column + 1] + 1, next[column] + 1, last[column] + (byte == other ? 0 : 1))
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
                    best = min(best, before[column - 1] + 1)
                }
                next.append(best)
            }
            (before, last) = (last, next)
        }
        return last[right.count]
    }
}

extension VaultError {
    /// The same, with the known name that is nearest to one that is missing.
    public func suggesting(_ name: String, among known: some Sequence<String>) -> VaultError {
        guard let nearest = Suggestion.nearest(to: name, among: known), nearest != name else { return self }
        return with(remedy: "did you mean '\(nearest)'? Else \(remedy)")
    }
}

extension Collection where Element == String {
    /// The first ones as a text, and how many more there are: `a, b and 3 more`.
    public func listed(upTo limit: Int) -> String {
        let rest = count - limit
        return prefix(limit).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}

extension BinaryInteger {
    /// The number with a noun, plural unless it is 1: `1 piece`, `2 pieces`.
    public func counting(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension UInt64 {
    /// A number of bytes for people, in units of 1000: `512 B`, `1.5 MB`.
    public var sizeInUnits: String {
        var (number, units) = (Double(self), ["B", "KB", "MB", "GB", "TB", "PB", "EB"])
        while number >= 999.5, units.count > 1 {
            number /= 1000
            units.removeFirst()
        }
        let tenths = (number * 10).rounded() / 10
        let isWhole = units[0] == "B" || tenths >= 100 || tenths == tenths.rounded()
        return "\(isWhole ? "\(Int(number.rounded()))" : "\(tenths)") \(units[0])"
    }
}

extension String {
    /// As one word of a shell's command line.
    package var quotedForShell: String {
        let isPlain = utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B...0x2F, 0x3A, 0x3D, 0x40, 0x5F, 0x25: true
            default: false
            }
        }
        return isPlain && !isEmpty ? self : "'\(replacing("'", with: "'\\''"))'"
    }
}
