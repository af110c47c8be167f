import Glibc
import SystemPackage
import Testing
import VaultAuthoring
import VaultBase
import VaultSite

@Suite struct StrayFileTests {
    @Test func reportsUnreferencedFiles() async throws {
        let vault = try await TestVault.published()
        let pack = try vault.read(vault.file(of: try await vault.packs()[1]))
        let metadata = try vault.read(vault.metadata.appending("1.targets.json"))
        for stray in ["index.html", "metadata/notes.txt", "old/x", "targets/packs/y/z"] {
            try vault.write([1], to: vault.site.appending(stray))
        }
        try vault.write(pack, to: vault.targets.appending("packs/levels/x.avpack"))
        try vault.write(metadata, to: vault.metadata.appending("7.targets.json"))
        try vault.write(pack, to: vault.targets.appending(".assetvault-1-2.tmp"))
        try #require(unsafe symlink("/etc", vault.site.appending("link").string) == 0)
        let report = try await vault.audit()
        #expect(report.gravestError == nil)
        #expect(
            vault.codes(in: report) == [
                "index.html": "foreign-file", "metadata/notes.txt": "foreign-file", "old/x": "foreign-file",
                "targets/packs/y/z": "foreign-file", "targets/packs/levels/x.avpack": "prunable",
                "metadata/7.targets.json": "prunable", "targets/.assetvault-1-2.tmp": "prunable",
                "link": "prunable",
            ])
        // At the top are pages for people; among packs and metadata is nothing else.
        #expect(
            Set(report.findings(.warning).map(\.place))
                == Set(["metadata/notes.txt", "targets/packs/y/z"].map { vault.site.appending($0).string }))
    }

    @Test func findsSecretKeys() async throws {
        let vault = try await TestVault.published()
        try vault.write(vault.read(vault.vaultKeys), to: vault.site.appending("backup/vault.txt"))
        try vault.write(vault.read(vault.rootKey), to: vault.targets.appending("packs/root.pem"))
        let report = try await vault.audit()
        #expect(report.gravestError?.category == .corrupt)
        #expect(
            vault.codes(in: report) == [
                "backup/vault.txt": "secret-key", "targets/packs/root.pem": "secret-key",
            ])
        let text = report.allFindings.map(\.description).joined()
        #expect(!text.contains("PRIVATE") && !text.contains("\"k\""))
    }

    @Test func findsWhatLiesDeep() async throws {
        let vault = try await TestVault.published()
        let folder = (0..<60).map { "folder\($0)" }.joined(separator: "/")
        try vault.write(vault.read(vault.vaultKeys), to: vault.site.appending("\(folder)/vault.txt"))
        #expect(vault.codes(in: try await vault.audit()) == ["\(folder)/vault.txt": "secret-key"])
    }

    @Test(arguments: ["", "metadata", "metadata/timestamp.json", "targets/packs"])
    func findsWhatEverybodyMayChange(name: String) async throws {
        let vault = try await TestVault.published()
        let path = name.isEmpty ? vault.site : vault.site.appending(name)
        try #require(unsafe chmod(path.string, 0o777) == 0)
        let report = try await vault.audit()
        #expect(report.allFindings.map(\.code) == ["world-writable"])
        #expect(report.allFindings.map(\.place) == [path.string])
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

extension TestVault {
    /// By path below the site.
    fileprivate func codes(in report: AuditReport) -> [String: String] {
        Dictionary(
            report.allFindings.map { (String($0.place.dropFirst(site.string.count + 1)), $0.code.name) }
        ) { "\($0) and \($1)" }
    }
}
