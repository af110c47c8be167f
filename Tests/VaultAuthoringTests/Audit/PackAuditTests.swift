import SealedPack
import SystemPackage
import Testing
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite
import VaultTransport

@testable import VaultCommand

@Suite struct PackAuditTests {
    private func copy(_ pack: PackManifest, of vault: TestVault) throws -> VaultPath {
        let path = try vault.write(try vault.read(try vault.file(of: pack)), to: "copy.avpack")
        let manifest = try vault.write(PackManifestFile.bytes(of: pack), to: "copy.avpack.json")
        return VaultPath(pack: path, manifest: manifest)
    }

    private func site(_ vault: TestVault) throws -> PackAudit.Evidence {
        .site(
            Site(SiteLocation(path: vault.site), transport: FileTransport()),
            pinnedRoot: try vault.trustedRoot)
    }

    @Test func checksAPackByItself() async throws {
        let vault = try await TestVault.published()
        let file = try copy(try await vault.packs()[0], of: vault)
        let report = try await vault.audit(file.pack)
        #expect(report.gravestError == nil)
        #expect(report.trust == .unsigned)
        #expect(report.findings(.note).map(\.problem) == ["no manifest: not bound to anything signed"])
        #expect(report.packs.first?.id == nil)
        #expect(report.lines.last?.hasSuffix("bytes checked, none of them signed") == true)
    }

    @Test func checksAPackAgainstItsManifest() async throws {
        let vault = try await TestVault.published()
        let file = try copy(try await vault.packs()[0], of: vault)
        let report = try await vault.audit(file.pack, by: .manifest(file.manifest), keyed: true)
        #expect(report.gravestError == nil)
        #expect(report.trust == .unsigned)
        #expect(report.packs.first?.id?.description == "levels/one")
        #expect(report.packs.first?.verifiedEntries == 3)
        // Another pack's manifest.
        try vault.write(PackManifestFile.bytes(of: try await vault.packs()[1]), to: file.manifest)
        let other = try await vault.audit(file.pack, by: .manifest(file.manifest))
        #expect(other.gravestError?.category == .corrupt)
    }

    @Test func findsAWrongManifest() async throws {
        let vault = try await TestVault.published()
        let pack = try await vault.packs()[0]
        let file = try copy(pack, of: vault)
        let text = String(decoding: PackManifestFile.bytes(of: pack), as: UTF8.self)
        let zeros = String(repeating: "0", count: 64)
        try vault.write(Array(text.replacing(pack.sha256.hex, with: zeros).utf8), to: file.manifest)
        // The parts' digests verify every byte; that of the whole is compared with the file only with a key.
        #expect(try await vault.audit(file.pack, by: .manifest(file.manifest)).gravestError == nil)
        let wrongDigest = try await vault.audit(file.pack, by: .manifest(file.manifest), keyed: true)
        #expect(wrongDigest.problems.first?.contains("not that of its manifest") == true)
        try vault.write(
            Array(text.replacing("\"version\": 1", with: "\"version\": 7").utf8), to: file.manifest)
        // Only the catalog knows the version, so it takes a key to tell.
        #expect(try await vault.audit(file.pack, by: .manifest(file.manifest)).gravestError == nil)
        let wrongVersion = try await vault.audit(file.pack, by: .manifest(file.manifest), keyed: true)
        #expect(wrongVersion.gravestError?.category == .corrupt)
    }

    @Test func checksAPackAgainstASite() async throws {
        let vault = try await TestVault.published()
        let file = try copy(try await vault.packs()[0], of: vault)
        let report = try await vault.audit(file.pack, by: site(vault), keyed: true)
        #expect(report.allFindings.isEmpty)
        #expect(report.isPinned)
        #expect(report.packs.first?.verifiedEntries == 3)
        try vault.flipByte(of: file.pack, at: 64)
        #expect(
            try await vault.audit(file.pack, by: site(vault)).problems == ["damaged pieces (1): number 0"])
    }

    @Test func findsThatTheSiteHasAnotherVersion() async throws {
        let vault = try await TestVault.published()
        let file = try copy(try await vault.packs()[1], of: vault)
        try vault.write([1, 2, 3], to: "two/small.bin")
        try await vault.publish()
        let report = try await vault.audit(file.pack, by: site(vault))
        #expect(report.gravestError?.category == .corrupt)
        #expect(report.packs.first?.version == 2)
    }

    @Test func reportsWhatKeepsAPackFromBeingRead() async throws {
        let (vault, other) = (try await TestVault.published(), try await TestVault.published())
        let file = try copy(try await vault.packs()[0], of: vault)
        func category(_ body: () async throws -> Void) async -> VaultError.Category? {
            do { try await body() } catch { return (error as? VaultError)?.category }
            return nil
        }
        #expect(await category { _ = try await vault.audit("/nowhere.avpack") } == .missing)
        #expect(await category { _ = try await vault.audit(file.pack, by: site(other)) } == .missing)
        #expect(
            await category { _ = try await vault.audit(file.pack, by: .manifest("/no.json")) } == .missing)
        // An audit refuses a file that is not a pack.
        try vault.write([1, 2, 3], to: file.pack)
        #expect(try await vault.audit(file.pack, by: site(vault)).gravestError?.category == .corrupt)
        #expect(try await vault.audit(file.pack).gravestError?.category == .corrupt)
    }

    @Test func needsAManifestToUnwrapTheKey() async throws {
        let vault = try await TestVault.published()
        let file = try copy(try await vault.packs()[0], of: vault)
        #expect(try await vault.audit(file.pack, keyed: true).gravestError?.category == .missing)
    }
}

private struct VaultPath {
    let pack: FilePath
    let manifest: FilePath
}
