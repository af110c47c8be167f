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
            LanguageLookup(in: values).first(for: wanted + fallback) ?? Self.first(of: values)
        case .word(let fallback):
            (wanted + fallback).first { word in values.contains { $0.hasSameBytes(as: word) } }
                ?? Self.first(of: values)
        }
    }

    /// The value that serves who wants one; nil where none does.
    package func match(for wanted: String, among values: [String]) -> String? {
        switch self {
        case .nearest: Int64(wanted).flatMap { wanted in values.first { Int64($0) == wanted } }
        case .language: LanguageLookup(in: values).first(for: [wanted])
        case .word: values.first { $0.hasSameBytes(as: wanted) }
        }
    }

    private static func first(of values: [String]) -> String? { values.min { $0.bytesPrecede($1) } }

    private static func nearest(to wanted: Int64?, of values: [String]) -> String? {
        let numbers = values.compactMap { Int64($0) }.sorted()
        let enough = wanted.flatMap { wanted in numbers.first { $0 >= wanted } }
        return (enough ?? numbers.last).map { "\($0)" } ?? first(of: values)
    }
}

/// Looks up language tags among values that are split once.
private struct LanguageLookup {
    /// Sorted by their bytes.
    private let values: [(text: String, subtags: [Substring])]
    private let exact: [[Substring]: String]

    init(in texts: [String]) {
        values = texts.sorted { $0.bytesPrecede($1) }.map { ($0, Self.subtags(of: $0)) }
        exact = Dictionary(values.map { ($0.subtags, $0.text) }) { first, _ in first }
    }

    func first(for wanted: [String]) -> String? {
        wanted.lazy.map(Self.subtags).filter { !$0.isEmpty }.compactMap(lookup).first
    }

    private static func subtags(of text: String) -> [Substring] { text.lowercased().split(separator: "-") }

    /// The tag itself, else the one that is left when subtags are removed from its end; a single letter or digit goes with
    /// the subtag that follows it (RFC 4647, section 3.4). Else a tag that begins with the wanted one, else one of the same
    /// primary language: a player reads that rather than another language.
    private func lookup(_ range: [Substring]) -> String? {
        var subtags = range
        while !subtags.isEmpty {
            if let found = exact[subtags] { return found }
            subtags.removeLast()
            if subtags.last?.count == 1 { subtags.removeLast() }
        }
        return first(beginningWith: range) ?? first(beginningWith: Array(range.prefix(1)))
    }

    private func first(beginningWith range: [Substring]) -> String? {
        values.first { $0.subtags.starts(with: range) }?.text
    }
}
