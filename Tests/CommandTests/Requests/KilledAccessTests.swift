import Sampling
import Testing

/// A request that is killed at any step leaves a store that serves the next one.
@Suite(.timeLimit(.minutes(10))) struct KilledAccessTests {
    let world: World

    init() async throws { world = try await .withTags() }

    private func access(_ store: String, through wrapper: [String] = []) async throws -> CommandResult {
        try await world.access(
            "level2", script: "cat \"$ASSETVAULT_RESOURCES/levels/2/map\"", in: store, through: wrapper)
    }

    /// At each call that makes something durable; the root is pinned by the first ones.
    @Test func theFirstRequest() async throws {
        let later = Sampling.numbers(13...80, each: 8, for: "KilledAccessTests.theFirstRequest")
        let killed = try await Killing.atEach("fsync", Array(4...12) + later) { number, wrapper in
            let store = world["store \(number)"]
            let result = try await access(store, through: wrapper)
            guard result.exitCode != 0 else { return result }
            let next = try await access(store)
            #expect(next.exitCode == 0 && next.text == "map 2", "\(number): \(next.errorText)")
            return result
        }
        #expect(killed > 4)
    }
}
