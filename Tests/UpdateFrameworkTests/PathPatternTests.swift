import Testing

@testable import UpdateFramework

/// The patterns of section 4.5.
@Suite struct PathPatternTests {
    @Test(arguments: [
        ("a", "a"), ("a/b", "a/b"), ("*", "a"), ("*", "abc.txt"), ("*", ""), ("a*", "a"), ("a*", "abc"),
        ("*c", "abc"), ("a*c", "ac"), ("a*c", "abbc"), ("a*c", "acc"), ("a*b*c", "aXbYc"), ("**", "ab"),
        ("*/*", "a/b"), ("*/*", "/"), ("a/*/c", "a/b/c"), ("a/*/c", "a//c"), ("?", "a"), ("??", "ab"),
        ("a?c", "abc"), ("?", "é"), ("?", "😀"), ("??", "e\u{301}"), ("é", "\u{E9}"), ("*😀", "x😀"),
        ("*?", "a"), ("?*", "abc"), ("[a]", "[a]"), ("a.c", "a.c"), ("\\*", "\\x"), ("{a,b}", "{a,b}"),
        ("", ""), ("foo-*.tgz", "foo-1.2.tgz"), ("targets/*.tgz", "targets/foo.tgz"),
    ])
    func aPatternMatches(_ pattern: String, _ path: String) {
        #expect(PathPattern(pattern).matches(path))
    }

    @Test(arguments: [
        ("a", "b"), ("a", "A"), ("A*", "abc"), ("a", "ab"), ("a", ""), ("", "a"), ("*", "a/b"), ("*", "/"),
        ("a*", "a/b"), ("*/*", "a"), ("*/*", "a/b/c"), ("a/*", "a"), ("a/*", "a/b/c"), ("?", ""),
        ("?", "ab"), ("?", "/"), ("a?b", "a/b"), ("a*c", "ab"), ("a*c", "a"), ("*a?", "a"),
        ("?", "e\u{301}"), ("\u{E9}", "e\u{301}"), ("e", "e\u{301}"), ("[ab]", "a"), ("a.c", "abc"),
        ("**", "a/b"), ("/a", "a"), ("a/", "a"), ("*.tgz", "a.tgz\n"), ("targets/*.tgz", "targets/foo.txt"),
        ("foo-*.tgz", "foo-1/2.tgz"),
    ])
    func aPatternDoesNotMatch(_ pattern: String, _ path: String) {
        #expect(!PathPattern(pattern).matches(path))
    }

    /// Plain backtracking would try more than 10^30 combinations.
    @Test func manyStarsMatchInPolynomialTime() {
        let stars = String(repeating: "*a", count: 40)
        let path = String(repeating: "a", count: 4000)
        #expect(!PathPattern("\(stars)*b").matches(path))
        #expect(PathPattern("\(stars)*").matches(path))
        #expect(PathPattern("\(stars)*b").matches("\(path)b"))
        #expect(!PathPattern(String(repeating: "*/", count: 40) + "b").matches(path))
    }
}
