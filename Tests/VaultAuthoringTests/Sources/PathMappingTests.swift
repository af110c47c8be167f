import Sampling
import Testing
import VaultAuthoring
import VaultBase

/// Where the files of a pattern are for a device.
@Suite struct PathMappingTests {
    private func mapped(_ path: String, _ pattern: String, _ target: String) throws -> String? {
        let mapping = try PathMapping(from: PathPattern(pattern), to: target)
        return mapping.edits(of: Array(path.utf8)).map {
            String(decoding: Array(path.utf8).edited(by: $0), as: UTF8.self)
        }
    }

    @Test(arguments: [
        ("*@2x.png", "*.png", "a/sky@2x.png", "a/sky.png"), ("*@2x.png", "*.png", "a/sky@3x.png", nil),
        ("*@2x.png", "*.png", "a@2x.png/b@2x.png", "a@2x.png/b.png"), ("*@2x", "*", "a@2x/b", "a/b"),
        ("texts/de/**", "texts/**", "texts/de/a/b", "texts/a/b"),
        ("texts/de", "texts/x", "texts/de/b", "texts/x/b"),
        ("**/hd/*.png", "**/*.png", "a/b/hd/c.png", "a/b/c.png"),
        ("**/hd/*.png", "**/*.png", "hd/c.png", "c.png"),
        ("a*b*c", "x*y*z", "a1b2b3c", "x1y2b3z"), ("/boss@3x", "boss", "boss@3x", "boss"),
        ("*", "x-*", "a/b", "a/x-b"), ("/**", "x/**", "a/b", "x/a/b"),
        ("**/*@2x", "**/big-*", "a/b@2x", "a/big-b"),
    ])
    func examples(pattern: String, target: String, path: String, expected: String?) throws {
        #expect(try mapped(path, pattern, target) == expected)
    }

    @Test(arguments: [("*@2x", "sky"), ("*@2x", "**"), ("a/*", "a/*/*"), ("*@2x", "a/*"), ("a", "[a]")])
    func otherStars(pattern: String, target: String) throws {
        let error = #expect(throws: VaultError.self) { try mapped("x", pattern, target) }
        #expect(error?.category == .usage)
    }

    /// Each path that a pattern matches is mapped, no other is, and the way back leads to it where stars stand for as little as before.
    @Test func randomPatterns() throws {
        var random = SeededGenerator(for: "PathMappingTests.randomPatterns")
        let parts = ["a", "b", "/", "*", "**", "**/"]
        var mappedCount = 0
        for _ in 0..<30_000 {
            let texts = (0..<Int.random(in: 1...5, using: &random)).compactMap { _ in
                parts.randomElement(using: &random)
            }
            let names = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                (0..<Int.random(in: 1...3, using: &random)).map { _ in Bool.random(using: &random) ? "a" : "b"
                }.joined()
            }
            guard let pattern = try? PathPattern(texts.joined()) else { continue }
            let path = Array(names.joined(separator: "/").utf8)
            // Other bytes for each of its own.
            let target = texts.joined().replacing("a", with: "xy").replacing("b", with: "z")
            let edits = try PathMapping(from: pattern, to: target).edits(of: path)
            #expect((edits != nil) == pattern.matches(path), "\(texts) \(names)")
            guard let edits else { continue }
            mappedCount += 1
            let result = path.edited(by: edits)
            #expect(try PathPattern(target).matches(result), "\(texts) \(names)")
            #expect(result.filter { $0 == UInt8(ascii: "/") }.count == names.count - 1)
        }
        #expect(mappedCount > 1_000)
    }

    /// What nearly matches in many ways is decided soon.
    @Test(.timeLimit(.minutes(1))) func manyStars() throws {
        let path = String(repeating: "a", count: 250)
        #expect(
            try mapped(
                path, String(repeating: "*a", count: 20) + "*b",
                String(repeating: "*", count: 1) + String(repeating: "a*", count: 20)) == nil)
    }

    /// A value is marked where it stands alone, and once.
    @Test(arguments: [
        ("*@2x.png", "2", "a@2x.png", "a@!x.png"), ("*@22x", "2", "a@22x", "a@22x"),
        ("2/*@2x", "2", "2/a@2x", "2/a@2x"),
        ("texts/de/*", "de", "texts/de/a", "texts/!/a"), ("model/*", "de", "model/a", "model/a"),
        ("*.astc", "astc", "astc.astc", "astc.!"), ("*", "a", "a", "a"),
    ])
    func marks(pattern: String, value: String, path: String, expected: String) throws {
        let mapping = PathMapping(of: try PathPattern(pattern), marking: [(value, Array("!".utf8))])
        let edits = try #require(mapping.edits(of: Array(path.utf8)))
        #expect(String(decoding: Array(path.utf8).edited(by: edits), as: UTF8.self) == expected)
    }
}
