import Foundation
import Sampling
import Testing
import VaultAuthoring

/// Patterns compared with what their description says, tried without any cleverness.
@Suite struct PathPatternTests {
    /// What the rest of a pattern may match, by trying everything.
    private static func matches(_ pattern: Substring, _ text: Substring) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        if pattern.hasPrefix("**") {
            let tail = pattern.drop { $0 == "*" }
            return text.indices.contains { matches(tail, text[$0...]) }
                || matches(tail, text[text.endIndex...])
        }
        if first == "*" {
            return matches(rest, text)
                || text.first.map { $0 != "/" && matches(pattern, text.dropFirst()) } ?? false
        }
        return text.first == first && matches(rest, text.dropFirst())
    }

    /// `**/` is also nothing, where a name begins.
    private static func forms(of pattern: String) -> [String] {
        guard let place = pattern.firstRange(of: "**/") else { return [pattern] }
        let (before, after) = (String(pattern[..<place.lowerBound]), String(pattern[place.upperBound...]))
        let shorter = before.isEmpty || before.hasSuffix("/") ? forms(of: after).map { before + $0 } : []
        return shorter + forms(of: after).map { "\(before)**/\($0)" }
    }

    private static func modelMatches(_ pattern: String, _ path: String) -> Bool {
        let isName = !pattern.contains("/")
        let names = path.split(separator: "/")
        return names.indices.contains { index in
            let text = isName ? String(names[index]) : names[...index].joined(separator: "/")
            let pattern = pattern.hasPrefix("/") ? String(pattern.dropFirst()) : pattern
            return forms(of: pattern).contains { matches($0[...], text[...]) }
        }
    }

    @Test func agreesWithAModel() throws {
        var random = SeededGenerator(for: "PathPatternTests")
        func word(_ parts: [String], _ count: Int) -> String {
            (0..<count).compactMap { _ in parts.randomElement(using: &random) }.joined()
        }
        var found = 0
        // Patterns beside others are found by other parts of theirs.
        var recent: [PathPattern] = []
        for _ in 0..<Sampling.rounds(20_000, whole: 500_000) {
            let text = word(
                ["a", "b", "/", "*", "**", "/**/", "*a"], Int.random(in: 1...6, using: &random))
            let path = word(["a", "b", "ab", "/a", "/b"], Int.random(in: 1...7, using: &random))
            guard !path.hasPrefix("/"), !text.contains("***"), !text.contains("//"),
                !text.hasSuffix("/"), let pattern = try? PathPattern(text)
            else { continue }
            let expected = Self.modelMatches(text, path)
            if expected { found += 1 }
            let bytes = Array(path.utf8)
            #expect(pattern.matches(bytes) == expected, "'\(text)' and '\(path)'")
            let index = PathPatternIndex([pattern])
            #expect(index.matches(bytes) == (expected ? [0] : []), "'\(text)' and '\(path)'")
            #expect(index.hasMatch(bytes) == expected)
            recent = recent.suffix(11) + [pattern]
            let matching = recent.indices.filter { recent[$0].matches(bytes) }
            #expect(PathPatternIndex(recent).matches(bytes) == matching, "'\(text)' and '\(path)'")
        }
        #expect(found > 1000)
    }

    @Test func anIndexFindsWhatEachPatternMatches() throws {
        let patterns = try [
            "a/*.png", "b", "/a", "*", "a/b/c", "x", "**/c", "*.png", "a", "a/**/c", "a/**", "/**/b/c", "a*",
        ].map { try PathPattern($0) }
        let index = PathPatternIndex(patterns)
        for path in ["a", "b", "a/b/c", "a/x.png", "c", "d/b", "d/a/x.png", "a/xc", "ab/b/c/d"] {
            let bytes = Array(path.utf8)
            let expected = patterns.indices.filter { patterns[$0].matches(bytes) }
            #expect(index.matches(bytes) == expected, "\(path)")
            #expect(index.hasMatch(bytes) == !expected.isEmpty, "\(path)")
        }
    }

    /// Each pattern has something of its own, wherever its stars are.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: ["levels/*/#.png", "*/x#/*", "#*.png", "levels/#-*", "**/#*", "a/*/b/**/#", "*-#.png"])
    func manyPatterns(form: String) throws {
        let count = 20_000
        let patterns = try (0..<count).map { try PathPattern(form.replacing("#", with: "\($0 + 100_000)")) }
        let index = PathPatternIndex(patterns)
        for number in 0..<count {
            let path = form.replacing("**", with: "y").replacing("*", with: "z")
                .replacing("#", with: "\(number + 100_000)")
            #expect(index.matches(Array(path.utf8)) == [number])
        }
    }

    /// With backtracking these would take years.
    @Test(.timeLimit(.minutes(1)))
    func workIsBounded() throws {
        let name = Array(String(repeating: "a", count: 4000).utf8)
        let path = Array(String(repeating: "a/", count: 2000).utf8) + [UInt8(ascii: "a")]
        for part in ["**a", "*a", "**/a", "**a*", "**/a/"] {
            let pattern = try PathPattern(String(repeating: part, count: 12) + "b")
            #expect(!pattern.matches(name))
            #expect(!pattern.matches(path))
        }
    }
}
