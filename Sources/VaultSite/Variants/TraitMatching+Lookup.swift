import SealedPack
import StrictJSON
import VaultBytes

extension TraitMatching {
    /// The value that serves a device best. Some value always does: after the fallback the first one by its bytes, of numbers
    /// the greatest. Nil only without any value.
    ///
    /// - Parameter wanted: the device's values, the preferred one first.
    func best(of values: [String], for wanted: [String]) -> String? {
        switch self {
        case .nearest: Self.nearest(to: wanted.lazy.compactMap { Int64($0) }.first, of: values)
        case .language(let fallback):
            (wanted + fallback).lazy.compactMap { Self.lookup($0, in: values) }.first
                ?? Self.first(of: values)
        case .word(let fallback):
            (wanted + fallback).first { word in values.contains { $0.hasSameBytes(as: word) } }
                ?? Self.first(of: values)
        }
    }

    private static func first(of values: [String]) -> String? { values.min { $0.bytesPrecede($1) } }

    private static func nearest(to wanted: Int64?, of values: [String]) -> String? {
        let numbers = values.compactMap { Int64($0) }.sorted()
        let enough = wanted.flatMap { wanted in numbers.first { $0 >= wanted } }
        return (enough ?? numbers.last).map { "\($0)" } ?? first(of: values)
    }

    /// The tag itself, else the one that is left when subtags are removed from its end; a single letter or digit goes with
    /// the subtag that follows it. Else a tag that begins with the wanted one (RFC 4647, section 3.3.1).
    private static func lookup(_ wanted: String, in values: [String]) -> String? {
        var subtags = wanted.lowercased().split(separator: "-")
        let range = subtags
        while !subtags.isEmpty {
            if let found = values.first(where: { $0.lowercased().split(separator: "-") == subtags }) {
                return found
            }
            subtags.removeLast()
            if subtags.last?.count == 1 { subtags.removeLast() }
        }
        return first(of: values.filter { $0.lowercased().split(separator: "-").starts(with: range) })
    }
}
