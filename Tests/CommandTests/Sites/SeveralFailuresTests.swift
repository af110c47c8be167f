import FaultServer
import Testing

/// Packs that ran out of time have not failed: one line says so of all. `Scripts/Sites/several-failures.txt` has packs that have.
struct SeveralFailuresTests {
    @Test func theTimeIsUp() async throws {
        let world = try await World("first", "second", "third")
        let server = try FaultServer(world.site) { $0.isForPack ? .steps([.hang]) : .file }
        let result = try await world.fetch("--time 2", from: server.url)
        #expect(result.exitCode == 75)
        let lines = result.errorText.split(separator: "\n").filter { $0.hasPrefix("assetvault: ") }
        #expect(lines.count == 1, "\(result.errorText)")
        let last = lines.last ?? "-"
        #expect(last.contains("the time is up"), "\(result.errorText)")
        #expect(result.errorText.hasSuffix("\(last)\n"), "\(result.errorText)")
    }
}
