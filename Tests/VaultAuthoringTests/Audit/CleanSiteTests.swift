import SealedPack
import Testing
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultSite

@testable import VaultCommand

@Suite struct CleanSiteTests {
    @Test func verifiesEveryHostedByteWithoutAKey() async throws {
        let vault = try await TestVault.published()
        let packs = try await vault.packs()
        let report = try await vault.audit()
        #expect(report.trust == .pinned)
        #expect(report.isPinned)
        #expect(report.allFindings.isEmpty)
        #expect(report.gravestError == nil)
        #expect(report.packs.map(\.id?.description) == ["levels/one", "two"])
        #expect(report.packs.map(\.version) == [1, 1])
        #expect(report.packs.map(\.pieceCount) == packs.map(\.pieceCount))
        #expect(report.packs.allSatisfy { $0.verifiedEntries == nil })
        var bytes: UInt64 = 0
        for pack in packs { bytes += UInt64(try vault.read(vault.file(of: pack)).count) }
        #expect(report.verifiedBytes == bytes)
    }

    @Test func verifiesEveryFileWithAKey() async throws {
        let report = try await TestVault.published().audit(keyed: true)
        #expect(report.allFindings.isEmpty)
        #expect(report.packs.map(\.verifiedEntries) == [3, 1])
    }

    @Test func isUnpinnedWithoutARoot() async throws {
        let report = try await TestVault.published().audit(pinned: false)
        #expect(report.trust == .unpinned)
        #expect(!report.isPinned)
        #expect(report.gravestError == nil)
        #expect(report.lines[0].contains("not pinned"))
    }

    @Test func reportsVersionsAndExpiry() async throws {
        let vault = try await TestVault.published()
        let roles = try await vault.audit().roles
        #expect(roles.map(\.role) == [.root, .timestamp, .snapshot, .targets])
        #expect(roles.map(\.version) == [1, 1, 1, 1])
        #expect(roles.map(\.daysLeft) == [365, 30, 30, 365])
        #expect(roles.first?.expires == TestVault.now.adding(days: 365))
    }

    @Test func warnsOfWhatExpiresSoon() async throws {
        let vault = try await TestVault.published()
        vault.now = TestVault.now.adding(days: 22)
        #expect(try await vault.audit().findings(.warning).isEmpty)
        vault.now = TestVault.now.adding(days: 25)
        let report = try await vault.audit()
        #expect(report.findings(.warning).map(\.place) == ["timestamp.json", "snapshot.json"])
        #expect(report.gravestError == nil)
        #expect(report.packs.count == 2)
    }

    @Test func readsTheSiteOfAHost() async throws {
        let vault = try await TestVault.published()
        let host = MappedHost(vault.site)
        let report = try await vault.audit(at: host, keyed: true)
        #expect(report.allFindings.isEmpty)
        #expect(report.packs.map(\.verifiedEntries) == [3, 1])
        #expect(report.packs.allSatisfy { $0.place.hasPrefix("\(MappedHost.url)/targets/packs/") })
        #expect(host.packRequests.count == 2)
    }
}
