import SystemPackage
import Testing
import VaultBase
import VaultTransport

@Suite struct SiteLocationTests {
    @Test(arguments: [
        ("https://example.org", "https://example.org/metadata/1.root.json"),
        ("https://example.org/", "https://example.org/metadata/1.root.json"),
        ("HTTPS://Example.ORG/Site//", "https://example.org/Site/metadata/1.root.json"),
        ("http://localhost:8080/a%20b/", "http://localhost:8080/a%20b/metadata/1.root.json"),
        ("http://[::1]:80", "http://[::1]:80/metadata/1.root.json"),
        ("file:///srv/site/", "/srv/site/metadata/1.root.json"),
        ("file:/srv/a%20b", "/srv/a b/metadata/1.root.json"),
        ("FILE://localhost/srv", "/srv/metadata/1.root.json"),
        ("/srv/site", "/srv/site/metadata/1.root.json"),
        ("site", "site/metadata/1.root.json"), ("./a:b", "./a:b/metadata/1.root.json"),
        ("../site with space/", "../site with space/metadata/1.root.json"),
    ])
    func parsesUserInput(text: String, file: String) throws {
        #expect(try SiteLocation(text).appending("metadata/1.root.json").description == file)
    }

    @Test(arguments: [
        "", "ftp://example.org/", "https://", "https:///path", "http://exa mple.org", "http://example.org:0",
        "http://example.org:99999", "http://example.org:8o", "http://example.org/?x", "http://example.org/#x",
        "http://ex\u{e4}mple.org/", "http://example.org/\u{7}", "http://example.org/<x>", "http://[::1/",
        "http://[]/",
        "file://server/share", "file:relative", "file:///a%00b", "file:///a%2", "file:///a%FF", "a\0b",
        "://x",
        "http://example.org\\@evil.org/",
    ])
    func refusesInvalidLocations(text: String) {
        let error = #expect(throws: VaultError.self) { try SiteLocation(text) }
        #expect(error?.category == .usage)
    }

    @Test(arguments: [
        "https://user:hunter2@example.org/", "https://hunter2@example.org", "ftp://a:hunter2@b/",
    ])
    func errorsNeverContainAPassword(text: String) {
        let error = #expect(throws: VaultError.self) { try SiteLocation(text) }
        #expect(error?.category == .usage)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test(arguments: [
        "", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "./a", "a b", "a%2e", "a\\b", "a?b", "a#b",
        "a:b", "a%", "a%2", "%00", "%2E", "%2e%2e", "%41", "%7E", "%c3%a9", "%C3",
        "\u{e9}", "a\0", "a\nb",
    ])
    func appendingRefusesUnsafePaths(path: String) throws {
        for base in ["https://example.org/site", "/srv/site"] {
            let error = #expect(throws: VaultError.self) { try SiteLocation(base).appending(path) }
            #expect(error?.category == .corrupt)
        }
    }

    @Test func appendingAcceptsDotsInNames() throws {
        for path in ["...", "..a", "a..b/c._-Z9", "targets/packs/a/0f.b.avpack"] {
            #expect(try SiteLocation("http://h").appending(path).description == "http://h/\(path)")
        }
    }

    /// Encoded bytes mean the same in a URL and on a disk.
    @Test func appendingAcceptsEncodedBytes() throws {
        for (encoded, plain) in [("a%20b", "a b"), ("%3F", "?"), ("%C3%A9/%23", "\u{e9}/#"), ("%25", "%")] {
            #expect(try SiteLocation("http://h").appending(encoded).description == "http://h/\(encoded)")
            #expect(try SiteLocation("/srv").appending(encoded).path?.string == "/srv/\(plain)")
        }
    }

    /// A name may have an encoded slash only at an HTTP host.
    @Test func encodedSlashIsRefusedForFiles() throws {
        #expect(try SiteLocation("http://h").appending("..%2Fa").description == "http://h/..%2Fa")
        let error = #expect(throws: VaultError.self) { try SiteLocation("/srv").appending("..%2Fa") }
        #expect(error?.category == .corrupt)
    }

    @Test(arguments: [
        ("http://localhost/", true, false), ("https://LOCALHOST:1/", true, true),
        ("http://127.0.0.1/", true, false),
        ("http://127.255.0.9/", true, false), ("http://[::1]/", true, false),
        ("http://127.0.0.1.evil.org/", false, false),
        ("http://127.evil.org/", false, false), ("http://localhost.evil.org/", false, false),
        ("https://example.org/", false, true), ("/srv", false, false),
    ])
    func recognizesLoopbackAndTLS(text: String, isLoopback: Bool, isSecure: Bool) throws {
        let location = try SiteLocation(text)
        #expect((location.isLoopback, location.isSecure) == (isLoopback, isSecure))
    }

    @Test func pathOfFileLocations() throws {
        #expect(try SiteLocation("file:///srv/x").path == FilePath("/srv/x"))
        #expect(try SiteLocation("http://h/srv/x").path == nil)
        #expect(try SiteLocation("file:///srv/x") == SiteLocation(path: "/srv/x"))
    }
}
