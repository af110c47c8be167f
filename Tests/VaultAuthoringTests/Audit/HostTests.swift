import SealedPack
import SystemPackage
import Testing
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultTransport

@Suite struct HostTests {
    @Test func aMissingFileMakesTheHostUnavailable() async throws {
        let vault = try await TestVault.published()
        try FileSystem.removeFile(try vault.file(of: try await vault.packs()[0]))
        let report = try await vault.audit(at: MappedHost(vault.site))
        #expect(report.gravestError?.category == .notHosted)
        #expect(
            report.problems == ["the site lists 'packs/levels/one.avpack', but the host does not have it"])
        #expect(report.packs.map(\.isSound) == [false, true])
    }

    @Test func readsNoMoreThanTheSignedLength() async throws {
        let vault = try await TestVault.published()
        let packs = try await vault.packs()
        let (first, second) = (try vault.file(of: packs[0]), try vault.file(of: packs[1]))
        try vault.write(vault.read(first) + [0], to: first)
        try vault.write(Array(vault.read(second).dropLast()), to: second)
        let report = try await vault.audit(at: MappedHost(vault.site))
        #expect(report.gravestError?.category == .corrupt)
        #expect(report.packs.map(\.isSound) == [false, false])
    }

    @Test func findsDamageOnTheHost() async throws {
        let vault = try await TestVault.published()
        try vault.flipByte(of: try vault.file(of: try await vault.packs()[0]), at: 64)
        let report = try await vault.audit(at: MappedHost(vault.site))
        #expect(report.problems == ["damaged pieces (1): number 0"])
        #expect(report.packs[0].findings.first?.place.hasPrefix(MappedHost.url) == true)
    }

    @Test func resumesAnInterruptedTransfer() async throws {
        let vault = try await TestVault.published()
        let length = try await vault.packs()[0].length
        let host = MappedHost(vault.site, interruptions: 1)
        let report = try await vault.audit(at: host)
        #expect(report.allFindings.isEmpty)
        #expect(host.packRequests.count == 3)
        #expect(host.packRequests[1].range == ByteRange((length / 2)...(length - 1)))
    }

    /// An unpinned site may sign any length.
    @Test func reservesNoSpaceForAnUnpinnedLength() async throws {
        let vault = try await TestVault.published()
        let target = TargetRecord(
            path: "huge.bin", length: 1 << 50, sha256: SHA256.hash([1, 2, 3].span))
        try await vault.list(target)
        try vault.write([1, 2, 3], to: vault.targets.appending(target.hostedPath))
        let report = try await vault.audit(at: MappedHost(vault.site))
        #expect(report.problems == ["the file has 3 bytes, but \(1 << 50) are signed"])
    }
}
