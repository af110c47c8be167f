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

    /// The value that serves who wants one; nil where none does.
    package func match(for wanted: String, among values: [String]) -> String? {
        switch self {
        case .nearest: Int64(wanted).flatMap { wanted in values.first { Int64($0) == wanted } }
        case .language: Self.lookup(wanted, in: values)
        case .word: values.first { $0.hasSameBytes(as: wanted) }
        }
    }

    private static func first(of values: [String]) -> String? { values.min { $0.bytesPrecede($1) } }

    private static func nearest(to wanted: Int64?, of values: [String]) -> String? {
        let numbers = values.compactMap { Int64($0) }.sorted()
        let enough = wanted.flatMap { wanted in numbers.first { $0 >= wanted } }
        return (enough ?? numbers.last).map { "\($0)" } ?? first(of: values)
    }

    /// The tag itself, else the one that is left when subtags are removed from its end; a single letter or digit goes with
    /// the subtag that follows it (RFC 4647, section 3.4). Else a tag that begins with the wanted one, else one of the same
    /// primary language: a player reads that rather than another language.
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
        guard !range.isEmpty else { return nil }
        func first(with range: ArraySlice<Substring>) -> String? {
            Self.first(of: values.filter { $0.lowercased().split(separator: "-").starts(with: range) })
        }
        return first(with: range[...]) ?? first(with: range.prefix(1))
    }
}
