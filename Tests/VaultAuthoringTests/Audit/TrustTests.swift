import SystemPackage
import Testing
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultFileSystem

@Suite struct TrustTests {
    /// Nothing below untrusted metadata is checked, which is reported.
    private func expectDistrust(_ report: AuditReport, _ category: VaultError.Category = .untrusted) {
        #expect(report.trust == .failed)
        #expect(!report.isPinned)
        #expect(report.gravestError?.category == category)
        #expect(report.packs.isEmpty && report.roles.isEmpty && report.verifiedBytes == 0)
        #expect(
            report.findings(.note).contains { $0.problem.contains("nothing that it lists was looked at") })
    }

    @Test func refusesASiteOfAnotherRoot() async throws {
        let (vault, other) = (try await TestVault.published(), try await TestVault.published())
        try vault.write(try other.trustedRoot.bytes, to: vault.rootFile)
        expectDistrust(try await vault.audit())
        // Under its own root it is valid.
        #expect(try await vault.audit(pinned: false).gravestError == nil)
    }

    /// Expired metadata are a finding, and every byte is verified all the same.
    @Test func verifiesExpiredMetadata() async throws {
        let vault = try await TestVault.published()
        let pack = try vault.file(of: try await vault.packs()[0])
        vault.now = TestVault.now.adding(days: 31)
        let report = try await vault.audit()
        #expect(report.gravestError?.category == .untrusted)
        #expect(report.problems.count == 2 && report.problems.allSatisfy { $0.contains("expired at") })
        #expect(report.isPinned && report.packs.map(\.isSound) == [true, true] && report.verifiedBytes > 0)

        try vault.flipByte(of: pack, at: 64)
        let damaged = try await vault.audit()
        #expect(damaged.problems.contains("damaged pieces (1): number 0"))
        #expect(damaged.packs.map(\.isSound) == [false, true])
    }

    /// A client that pins the first root reads its file nowhere; others begin with it.
    @Test(arguments: [true, false]) func readsEveryRoot(isDamaged: Bool) async throws {
        let vault = try await TestVault.published()
        let file = vault.metadata.appending("1.root.json")
        var bytes = try vault.read(file)
        #expect(bytes == (try vault.trustedRoot.bytes))
        if isDamaged {
            bytes[bytes.count / 2] ^= 1
            try vault.write(bytes, to: file)
        } else {
            try FileSystem.removeFile(file)
        }
        let report = try await vault.audit()
        #expect(report.errors.map(\.place) == [file.string], "\(report.problems)")
        #expect(report.gravestError?.category == .corrupt)
        #expect(report.isPinned && report.packs.map(\.isSound) == [true, true])
    }

    @Test(arguments: ["timestamp.json", "1.snapshot.json", "1.targets.json", "1.root.json"])
    func refusesTamperedMetadata(_ name: String) async throws {
        let vault = try await TestVault.published()
        let file = vault.metadata.appending(name)
        let text = String(decoding: try vault.read(file), as: UTF8.self)
        // Some files have white space.
        let tampered = text.replacing(/"version": ?1/, with: "\"version\": 2")
        try #require(tampered != text)
        try vault.write(Array(tampered.utf8), to: file)
        expectDistrust(try await vault.audit(pinned: false))
    }

    @Test(arguments: ["timestamp.json", "1.snapshot.json", "1.targets.json"])
    func missingMetadataIsDamage(_ name: String) async throws {
        let vault = try await TestVault.published()
        try FileSystem.removeFile(vault.metadata.appending(name))
        expectDistrust(try await vault.audit(), .corrupt)
    }
}
