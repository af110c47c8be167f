import Synchronization
import SystemPackage
import Testing
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultFileSystem
import VaultSite
import VaultTransport

/// Another host of a site that an audit compares with it.
@Suite struct FailingMirrorTests {
    /// Has the metadata, and fails for each pack.
    private final class Mirror: Transport {
        private let host: MappedHost
        private let error: VaultError
        private let asked = Mutex(0)

        init(_ vault: TestVault, failingBy error: VaultError) {
            (host, self.error) = (MappedHost(vault.site), error)
        }

        var packRequests: Int { asked.withLock { $0 } }

        func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
            guard request.location.description.hasSuffix(".avpack") else {
                return try await host.get(request)
            }
            asked.withLock { $0 += 1 }
            throw error
        }
    }

    private func compared(failingBy error: VaultError) async throws -> (requests: Int, report: AuditReport) {
        let vault = try await TestVault.published()
        var packs: [String: String] = [:]
        for number in 0..<10 {
            try vault.write([UInt8(number)], to: FilePath("more/\(number)/file"))
            packs["more/\(number)"] = "more/\(number)"
        }
        try await vault.publish(packs)
        let mirror = Mirror(vault, failingBy: error)
        let report = await SiteAudit(
            of: Site(SiteLocation(path: vault.site), transport: FileTransport()),
            pinnedRoot: try vault.trustedRoot, keys: nil, scratch: vault.place.path, now: vault.now,
            mirrors: [Site(try SiteLocation(MappedHost.url), transport: mirror)]
        ).run()
        return (mirror.packRequests, report)
    }

    /// Each request to a host that is slow or down may cost half a minute.
    @Test func aHostThatFailsIsNotAskedForAllFiles() async throws {
        let error = VaultError(.unavailable, "it fails", at: "host", remedy: "wait")
        let (requests, report) = try await compared(failingBy: error)
        #expect(requests == 5)
        #expect(report.findings(.note).contains { $0.code == "not-looked-at" })
        #expect(report.problems.count == 5)
    }

    /// Files that are missing are all named.
    @Test func aHostThatAnswersIsAskedForAllFiles() async throws {
        let error = VaultError(.notHosted, "it is not there", at: "host", remedy: "copy it")
        let (requests, report) = try await compared(failingBy: error)
        #expect(requests == 12)
        #expect(report.problems.count == 12)
    }
}
