import SealedPack
import SystemPackage
import Testing
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite
import VaultTransport

/// Targets that are not packs of a known format, which clients skip.
@Suite struct OtherTargetTests {
    private static let content = Array("a pack of a later format".utf8)

    private func vault(listing path: String, custom: JSONObject?) async throws -> TestVault {
        let vault = try await TestVault.published()
        let target = TargetRecord(
            path: path, length: UInt64(Self.content.count), sha256: SHA256.hash(Self.content.span),
            custom: custom)
        try await vault.list(target)
        try vault.write(Self.content, to: vault.targets.appending(target.hostedPath))
        return vault
    }

    @Test func checksLengthAndDigestOfALaterFormat() async throws {
        let vault = try await vault(listing: "packs/later.avpack", custom: ["assetvault": ["format": 2]])
        let report = try await vault.audit()
        #expect(report.gravestError == nil)
        #expect(report.findings(.note).count == 1)
        #expect(report.findings(.note).first?.problem.contains("pack format version 2 is unknown") == true)
        #expect(report.packs.count == 2)
        let packs = report.packs.reduce(0) { $0 + $1.length }
        #expect(report.verifiedBytes == packs + UInt64(Self.content.count))
    }

    @Test func findsDamageInALaterFormat() async throws {
        let vault = try await vault(listing: "packs/later.avpack", custom: ["assetvault": ["format": 2]])
        let target = try #require(try await vault.tree().chain.targets["packs/later.avpack"])
        let file = vault.targets.appending(target.hostedPath)
        try vault.flipByte(of: file, at: 3)
        let report = try await vault.audit()
        #expect(report.problems == ["the file is not the one that was signed for"])
        #expect(report.gravestError?.category == .corrupt)
        #expect(report.packs.allSatisfy { $0.isSound })
    }

    @Test func checksFilesOfOtherPrograms() async throws {
        let report = try await vault(listing: "readme.txt", custom: nil).audit()
        #expect(report.gravestError == nil)
        #expect(report.findings(.note).count == 1)
    }

    @Test func aCopyHasThem() async throws {
        let vault = try await vault(listing: "readme.txt", custom: nil)
        let copy = vault.place.path.appending("copy")
        _ = try await SiteMirror(
            of: Site(SiteLocation(path: vault.site), transport: FileTransport()), in: copy,
            pinnedRoot: try vault.trustedRoot, scratch: vault.place.path, now: vault.now
        ).run()
        let target = try #require(try await vault.tree().chain.targets["readme.txt"])
        #expect(try vault.read(copy.appending("targets/\(target.hostedPath)")) == Self.content)
    }

    @Test func warnsOfAPackThatClientsSkip() async throws {
        let vault = try await TestVault.published()
        let pack = try await vault.packs()[1]
        let target = try TargetRecord(path: "packs/other-name.avpack", json: pack.json)
        try await vault.list(target)
        try vault.write(
            vault.read(vault.file(of: pack)), to: vault.targets.appending(target.hostedPath))
        let report = try await vault.audit()
        #expect(report.gravestError == nil)
        #expect(report.findings(.warning).count == 1)
        #expect(report.findings(.warning).first?.problem.contains("it describes the pack 'two'") == true)
    }
}
