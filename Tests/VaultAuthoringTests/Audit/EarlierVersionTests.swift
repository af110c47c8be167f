import Foundation
import SealedPack
import SystemPackage
import Testing
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultFileSystem
import VaultSite
import VaultTransport

/// Versions listed only by kept metadata.
@Suite struct EarlierVersionTests {
    /// A vault with a second version of `two`, and the file of the first one.
    private func updated() async throws -> (vault: TestVault, old: FilePath) {
        let vault = try await TestVault.published()
        let old = try vault.file(of: try await vault.packs()[1])
        try vault.write([1, 2, 3], to: "two/small.bin")
        try await vault.publish()
        return (vault, old)
    }

    @Test func verifiesEarlierVersions() async throws {
        let (vault, old) = try await updated()
        let newest = try await vault.packs().reduce(0) { $0 + $1.length }
        let report = try await vault.audit()
        #expect(report.gravestError == nil)
        #expect(report.verifiedBytes == newest + UInt64(try vault.read(old).count))
        #expect(report.findings(.note).map(\.place) == [old.string])
        #expect(
            report.findings(.note).first?.problem
                == "an earlier version, which can be restored; 1.targets.json lists it")
    }

    @Test func findsATruncatedPack() async throws {
        let (vault, old) = try await updated()
        try vault.write(Array(vault.read(old).dropLast(7)), to: old)
        let report = try await vault.audit()
        #expect(report.gravestError?.category == .corrupt)
        #expect(report.allFindings.map(\.place) == [old.string])
        #expect(report.packs.allSatisfy { $0.isSound })
    }

    @Test func findsADamagedPiece() async throws {
        let (vault, old) = try await updated()
        try vault.flipByte(of: old, at: 64)
        let report = try await vault.audit()
        #expect(report.problems == ["damaged pieces (1): number 0"])
        #expect(report.gravestError?.category == .corrupt)
    }

    @Test func reportsAMissingPack() async throws {
        let (vault, old) = try await updated()
        try FileSystem.removeFile(old)
        let report = try await vault.audit()
        #expect(report.gravestError == nil)
        #expect(report.findings(.note).map(\.place) == [old.string])
        #expect(report.findings(.note).first?.problem.contains("1.targets.json lists it") == true)
    }

    /// As when a file is pruned between the listing of the folder and its turn: it is listed, and can't be opened.
    @Test func aPackThatIsPrunedMeanwhileIsMissing() async throws {
        let (vault, old) = try await updated()
        try FileSystem.removeFile(old)
        try FileManager.default.createSymbolicLink(atPath: old.string, withDestinationPath: "pruned")
        let report = try await vault.audit()
        #expect(report.gravestError == nil)
        #expect(report.allFindings.map(\.code) == ["gone"])
        #expect(report.findings(.note).map(\.place) == [old.string])
    }

    @Test func findsTruncatedMetadata() async throws {
        let (vault, _) = try await updated()
        let metadata = vault.metadata.appending("1.targets.json")
        try vault.write(Array(vault.read(metadata).dropLast(7)), to: metadata)
        let report = try await vault.audit()
        #expect(report.gravestError?.category == .corrupt)
        #expect(report.findings(.error(.corrupt)).map(\.place) == [metadata.string])
    }

    @Test func refusesUnsignedMetadata() async throws {
        let (vault, old) = try await updated()
        let metadata = vault.metadata.appending("1.targets.json")
        let text = String(decoding: try vault.read(metadata), as: UTF8.self)
        try vault.write(Array(text.replacing("prefetch", with: "onDemand").utf8), to: metadata)
        let report = try await vault.audit()
        #expect(report.gravestError == nil)
        #expect(report.findings(.note).map(\.place) == [old.string])
        #expect(report.findings(.note).first?.problem == "nothing in the metadata names it")
    }

    /// A pack listed under two IDs.
    @Test func findsAPackThatTwoListingsClaim() async throws {
        let vault = try await TestVault.published()
        let pack = try await vault.packs()[1]
        let text = String(decoding: JSONValue.object(pack.json).compact(), as: UTF8.self)
        let claim = try JSONValue(
            parsing: Array(text.replacing("\"id\":\"two\"", with: "\"id\":\"three\"").utf8).span,
            place: "claim")
        let target = try TargetRecord(
            path: "packs/three.avpack", json: try claim.asObject(at: "claim"))
        try await vault.list(target)
        let file = try vault.file(of: pack)
        try vault.write(vault.read(file), to: vault.targets.appending(target.hostedPath))
        let problem = "the site lists the packs 'three' and 'two' with one content key"
        #expect(try await vault.audit().problems == [problem])
        let evidence = PackAudit.Evidence.site(
            Site(SiteLocation(path: vault.site), transport: FileTransport()),
            pinnedRoot: try vault.trustedRoot)
        let alone = try await vault.audit(file, by: evidence)
        #expect(alone.problems == [problem])
        #expect(alone.gravestError?.category == .corrupt)
    }
}
