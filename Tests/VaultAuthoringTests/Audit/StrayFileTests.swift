import Glibc
import SystemPackage
import Testing
import VaultAuthoring
import VaultBase
import VaultSite

@Suite struct StrayFileTests {
    @Test func reportsUnreferencedFiles() async throws {
        let vault = try await TestVault.published()
        let strays = [
            "index.html", "metadata/7.targets.json", "metadata/notes.txt", "old/x",
            "targets/packs/levels/x.avpack",
            "targets/packs/y/z",
        ]
        for stray in strays { try vault.write([1], to: vault.site.appending(stray)) }
        try #require(unsafe symlink("/etc", vault.site.appending("link").string) == 0)
        let report = try await vault.audit()
        #expect(report.gravestError == nil)
        let places = [
            "index.html", "link", "old", "metadata/7.targets.json", "metadata/notes.txt",
            "targets/packs/y", "targets/packs/levels/x.avpack",
        ]
        #expect(
            Set(report.findings(.note).map(\.place)) == Set(places.map { vault.site.appending($0).string }))
    }

    @Test func reportsPacksOfEarlierVersionsButNotEarlierMetadata() async throws {
        let vault = try await TestVault.published()
        let old = try vault.file(of: try await vault.packs()[1])
        try vault.write([1, 2, 3], to: "two/small.bin")
        try await vault.publish()
        let report = try await vault.audit()
        #expect(report.gravestError == nil)
        #expect(report.allFindings.map(\.place) == [old.string])
        #expect(report.roles.map(\.version) == [1, 2, 2, 2])
    }

    @Test func countsInsteadOfNamingTooMany() async throws {
        let vault = try await TestVault.published()
        for number in 0..<103 { try vault.write([], to: vault.site.appending("stray-\(number)")) }
        let notes = try await vault.audit().findings(.note)
        #expect(notes.count == 101)
        #expect(notes.last?.problem.hasPrefix("3 more files") == true)
    }

    @Test func escapesNamesInText() async throws {
        let vault = try await TestVault.published()
        try vault.write([], to: vault.site.appending("a\u{1B}[2Jb\nc"))
        let text = try await vault.audit().findings(.note).map(\.description).joined()
        #expect(!text.contains("\u{1B}"))
        #expect(text.contains("a\\u{1B}[2Jb\\nc") || text.contains("a\\u{1B}[2Jb\\u{0A}c"))
    }
}
