import SealedPack
import Testing
import VaultBase

@Suite struct EntryPathTests {
    @Test(arguments: [
        "a", "a/b", "levels/01/map.json", "é/ñ.txt", "e\u{301}", "with space/ ", "...", "..a", "a..",
        ".hidden",
        "日本語/📦", "-rf", "a:b", "*?", "\u{A0}",
    ])
    func accepted(path: String) throws {
        let checked = try EntryPath(path)
        #expect(checked.utf8Bytes == Array(path.utf8))
        #expect(Array(checked.string.utf8) == Array(path.utf8))
    }

    @Test(arguments: [
        ("", "empty"), ("/a", "absolute"), ("/", "absolute"), ("a//b", "empty segment"),
        ("a/", "empty segment"),
        (".", "'.' segment"), ("a/./b", "'.' segment"), ("./a", "'.' segment"), ("..", "'..' segment"),
        ("a/..", "'..' segment"), ("../a", "'..' segment"), ("a\\b", "backslash"), ("a\u{0}b", "NUL"),
        ("a\u{1}", "control"), ("a\n", "control"), ("\u{1B}[2J", "control"), ("\u{7F}", "control"),
        ("a\u{80}", "control"), ("a\u{9F}/b", "control"),
    ])
    func refused(path: String, rule: String) async {
        let error = await expectError(.corrupt, rule) { try EntryPath(path) }
        #expect(error?.place == "entry '\(path.escapingControls)'")
    }

    @Test(arguments: [
        [0xFF], [0x61, 0xC3], [0xC3, 0x2F, 0xA9], [0xED, 0xA0, 0x80], [0xC0, 0xAF], [0x63, 0xE9],
    ])
    func notUTF8(bytes: [UInt8]) {
        let error = #expect(throws: VaultError.self) { try EntryPath(bytes.span) }
        #expect(error?.problem == "the name is not UTF-8")
    }

    /// Skipping a checked prefix does not change the result.
    @Test func checkedPrefixDoesNotChangeTheResult() throws {
        let segments = ["a", "..", ".", "", "b\\", "c\u{1}", "é", "日本", "a\u{80}"]
        var paths = segments + ["a/b", "a/b/c", "é/b", String(repeating: "d/", count: 63) + "d"]
        for start in ["a", "é", "a/b", String(repeating: "d/", count: 63) + "d"] {
            paths += segments.map { start + "/" + $0 } + segments.map { start + $0 }
        }
        let checked = paths.filter { (try? EntryPath($0)) != nil }
        #expect(checked.count > 10 && paths.count - checked.count > 20)
        for path in paths.map({ Array($0.utf8) }) {
            let rule = problem(of: path, known: 0)
            for other in checked {
                let common = zip(path, other.utf8).prefix { $0 == $1 }.count
                #expect(problem(of: path, known: common) == rule)
            }
        }
    }

    private func problem(of path: [UInt8], known: Int) -> String? {
        do throws(VaultError) { try EntryPath.check(path.span, checkedPrefix: known) } catch {
            return error.problem
        }
        return nil
    }

    @Test func limits() throws {
        let segment = String(repeating: "a", count: 255)
        _ = try EntryPath(segment)
        #expect(throws: VaultError.self) { try EntryPath(segment + "a") }

        let longest = Array(repeating: segment, count: 15).joined(separator: "/") + "/" + segment + "b"
        #expect(longest.utf8.count == 4_096)
        #expect(throws: VaultError.self) { try EntryPath(longest) }
        let allowed =
            Array(repeating: segment, count: 15).joined(separator: "/") + "/a/" + segment.dropLast(2)
        #expect(allowed.utf8.count == 4_095)
        _ = try EntryPath(allowed)
        _ = try EntryPath("b/" + allowed.dropFirst(1))
        let error = #expect(throws: VaultError.self) { try EntryPath("bb/" + allowed.dropFirst(1)) }
        #expect(error?.problem.contains("4,096") == true)

        _ = try EntryPath(Array(repeating: "a", count: 64).joined(separator: "/"))
        let deep = #expect(throws: VaultError.self) {
            try EntryPath(Array(repeating: "a", count: 65).joined(separator: "/"))
        }
        #expect(deep?.problem.contains("64 levels") == true)
    }

    @Test func ordersAndComparesByBytes() throws {
        let composed = try EntryPath("\u{E9}")
        let decomposed = try EntryPath("e\u{301}")
        #expect(composed != decomposed)
        #expect(decomposed < composed)
        #expect(Set([composed, decomposed]).count == 2)
        let paths = try ["a-b", "a/b", "a", "a.b", "B", "\u{FB00}", "\u{1F600}"].map { try EntryPath($0) }
        #expect(paths.sorted().map(\.string) == ["B", "a", "a-b", "a.b", "a/b", "\u{FB00}", "\u{1F600}"])
    }

    @Test func segmentsNameAndParent() throws {
        let path = try EntryPath("a/b/c.txt")
        #expect(path.segments == ["a", "b", "c.txt"])
        #expect(path.name == "c.txt")
        #expect(path.parent?.string == "a/b")
        #expect(path.parent?.parent?.parent == nil)
    }

    @Test(arguments: [
        ("A/B", "a/b"), ("\u{E9}", "e\u{301}"), ("\u{C9}", "e\u{301}"), ("STRASSE", "straße"), ("ẞ", "ß"),
        ("Σ", "ς"), ("\u{212A}", "k"), ("ſ", "S"), ("ΐ", "\u{1FD3}"), ("ﬀ", "FF"), ("Å", "å"),
    ])
    func collisionsAreFound(one: String, other: String) throws {
        #expect(try EntryPath(one).collisionKey == EntryPath(other).collisionKey)
    }

    @Test(arguments: [("a", "b"), ("e", "é"), ("a/b", "a-b"), ("1", "１")])
    func differentPathsDoNotCollide(one: String, other: String) throws {
        #expect(try EntryPath(one).collisionKey != EntryPath(other).collisionKey)
    }
}
