import FaultServer
import Testing
import VaultBase

/// Publishing from a host that fails.
struct HostedVaultTests {
    /// An unreadable bin must not count as empty.
    @Test func anUnreadableBin() async throws {
        let world = try await World("level")
        try world.settings { $0["bins"] = 2 }
        try await world.publish()
        let runner = try await Runner(of: world)
        let server = try FaultServer(runner.host) { $0.path.contains("1.packs-1") ? .status(500) : .file }
        try await runner.publish(against: server.url).failed(69, naming: "packs-1")
        #expect(try runner.written() == [])
    }
}
