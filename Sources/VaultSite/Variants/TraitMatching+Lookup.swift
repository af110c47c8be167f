package import SealedPack
import VaultBase

extension TraitCondition {
    /// The condition for one of several values; nil where there is no other one, which serves all devices.
    package init?(choosing value: String, among values: Set<String>, by matching: TraitMatching) {
        guard values.count > 1 else { return nil }
        guard matching == .nearest, let number = Int64(value) else {
            self = .value(value, among: values.sorted { $0.bytesPrecede($1) }, matching)
            return
        }
        let numbers = values.compactMap { Int64($0) }
        self = .number(
            above: numbers.filter { $0 < number }.max(), upTo: numbers.contains { $0 > number } ? number : nil
        )
    }

    /// Whether a device is served.
    ///
    /// - Parameter wanted: the device's values, the preferred one first.
    func isMet(by wanted: [String]) -> Bool {
        switch self {
        case .number(let above, let upTo):
            guard let number = wanted.lazy.compactMap({ Int64($0) }).first else { return upTo == nil }
            return above.map { number > $0 } ?? true && upTo.map { number <= $0 } ?? true
        case .value(let value, let values, let matching):
            return matching.best(of: values, for: wanted)?.hasSameBytes(as: value) ?? false
        }
    }
}

extension TraitMatching {
    /// Where not every combination exists, the trait that matters more is chosen first: what a person reads, what a device can
    /// show at all, and then what it shows best.
    package var rank: Int {
        switch self {
        case .language: 0
        case .word: 1
        case .nearest: 2
        }
    }

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
        // The text counts, which may be written otherwise, such as `007`.
        let numbers = values.compactMap { text in Int64(text).map { (number: $0, text: text) } }
        let enough = wanted.flatMap { wanted in
            numbers.filter { $0.number >= wanted }.min { $0.number < $1.number }
        }
        return (enough ?? numbers.max { $0.number < $1.number })?.text ?? first(of: values)
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
