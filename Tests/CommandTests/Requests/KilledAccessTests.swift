import Sampling
import Testing

/// A request that is killed at any step leaves a store that serves the next one.
@Suite(.timeLimit(.minutes(10))) struct KilledAccessTests {
    let site: RequestSite
    private var testSite: TestSite { site.testSite }

    init() async throws { site = try await RequestSite() }

    private func access(_ store: String, through wrapper: [String] = []) async throws -> CommandResult {
        try await Command.run(
            ["access", "level2", "--store", store] + testSite.keys
                + ["--site", testSite.site, "--trust", testSite.root]
                + ["--", "sh", "-c", "cat \"$ASSETVAULT_RESOURCES/levels/2/map\""], through: wrapper)
    }

    /// At each call that makes something durable; the root is pinned by the first ones.
    @Test func theFirstRequest() async throws {
        var killed = 0
        let later = Sampling.numbers(13...80, each: 8, for: "KilledAccessTests.theFirstRequest")
        for number in Array(4...12) + later {
            let store = testSite.folder["store \(number)"]
            let result = try await access(store, through: Killing.at("fsync", number: number))
            if result.exitCode == 0 { break }
            killed += 1
            let next = try await access(store)
            #expect(next.exitCode == 0 && next.text == "map 2", "\(number): \(next.errorText)")
        }
        #expect(killed > 4)
    }
}
