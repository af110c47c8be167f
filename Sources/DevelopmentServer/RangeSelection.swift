/// The part of a file that a `Range` header requests (RFC 9110, section 14.2), parsed as nginx does.
enum RangeSelection: Equatable {
    /// No range, another unit, an empty file, or several ranges.
    case whole
    case part(Range<UInt64>)
    /// The ranges are malformed or outside of the file: 416.
    case unsatisfiable

    init(header: String?, size: UInt64) {
        guard let header, header.utf8.count >= 7, header.prefix(6).lowercased() == "bytes=" else {
            self = .whole
            return
        }
        var parts: [Range<UInt64>] = []
        for spec in header.dropFirst(6).split(separator: ",", omittingEmptySubsequences: false) {
            guard let (first, end) = Self.bounds(spec, size: size) else {
                self = .unsatisfiable
                return
            }
            if first < end {
                parts.append(first..<end)
            } else if first == 0 {
                self = .whole
                return
            }
        }
        switch parts.count {
        case 0: self = .unsatisfiable
        case 1: self = .part(parts[0])
        default: self = .whole
        }
    }

    /// The first byte and the one after the last, clamped to the file; nil when malformed.
    private static func bounds(_ spec: Substring, size: UInt64) -> (UInt64, UInt64)? {
        let ends = spec.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        let (first, last) = (ends[0].trimmingSpaces, ends[1].trimmingSpaces)
        if first.isEmpty {
            guard let count = number(last), !ends[1].hasPrefix(" ") else { return nil }
            return (count < size ? size - count : 0, size)
        }
        guard let first = number(first) else { return nil }
        if last.isEmpty { return (first, size) }
        guard let last = number(last) else { return nil }
        return (first, last < size ? last + 1 : size)
    }

    private static func number(_ text: Substring) -> UInt64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text).map { UInt64($0) }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        let start = drop { $0 == " " }
        guard let last = start.lastIndex(where: { $0 != " " }) else { return start.prefix(0) }
        return start[...last]
    }
}
