import Testing
import VaultBase

/// Limits that `plan` holds sizes against.
@Suite(.timeLimit(.minutes(5))) struct ContentPlanTests {
    let world: World

    init() async throws { world = try await World() }

    /// A tree of sparse files: the size in bytes and the tags of each.
    private func declare(
        _ files: [(size: UInt64, tags: [String])], initial: [String], prefetch: [String]
    ) throws {
        for (number, file) in files.enumerated() { try world.makeSparse("game/\(number)", size: file.size) }
        try world.declareTree(
            files.enumerated().map { ("\($0)", $1.tags) },
            [
                "initial": .array(initial.map(JSONValue.string)),
                "prefetch": .array(prefetch.map(JSONValue.string)),
            ])
    }

    private func plan(_ arguments: String...) async throws -> CommandResult {
        try await world.run("plan $VAULT --json \(arguments)")
    }

    private static let million: UInt64 = 1_000_000

    /// Sizes in megabytes that just reach one limit.
    struct Reached: Sendable, CustomTestStringConvertible {
        let preset: String
        let megabytes: [UInt64]
        var initial = 0
        var prefetched = 0
        let problem: String
        var isWarning = false
        /// Whether another limit is exceeded already.
        var isBeyond = false
        /// Whether all have one tag.
        var isOneTag = false

        var testDescription: String { "\(preset): \(problem)" }
    }

    @Test(arguments: [
        Reached(preset: "odr-2015", megabytes: [512], problem: "the pack 'game/t0' has"),
        Reached(preset: "odr-2015", megabytes: [64], problem: "the tag 't0' has", isWarning: true),
        Reached(preset: "odr-2015", megabytes: [256, 256], problem: "the tag 't0' has", isOneTag: true),
        Reached(
            preset: "odr-2015", megabytes: [500, 500, 500, 500],
            problem: "the tag 't0' has, in use at a time,", isBeyond: true, isOneTag: true),
        Reached(
            preset: "odr-2015", megabytes: [500, 500, 500, 500], initial: 4,
            problem: "the app with its essential packs has"),
        Reached(
            preset: "odr-2015", megabytes: [50, 50], initial: 2,
            problem: "an installation over a mobile network has", isWarning: true),
        Reached(preset: "odr-2015-tvos", megabytes: [512], problem: "the pack 'game/t0' has"),
        Reached(preset: "odr-2015-tvos", megabytes: [64], problem: "the tag 't0' has", isWarning: true),
        Reached(preset: "odr-2015-tvos", megabytes: [256, 256], problem: "the tag 't0' has", isOneTag: true),
        Reached(
            preset: "odr-2015-tvos", megabytes: [200], initial: 1,
            problem: "the app with its essential packs has"),
        Reached(
            preset: "odr-2015-tvos", megabytes: [500, 500, 500, 500], initial: 4,
            problem: "essential packs have", isBeyond: true),
        Reached(
            preset: "odr-2015-tvos", megabytes: [200, 500, 500, 500, 300], initial: 1, prefetched: 4,
            problem: "essential and prefetched packs have"),
        Reached(
            preset: "odr-2015-tvos", megabytes: [500, 500, 500, 500],
            problem: "the tag 't0' has, in use at a time,", isBeyond: true, isOneTag: true),
        Reached(
            preset: "odr-2015-tvos", megabytes: Array(repeating: 400, count: 50), problem: "all packs have"),
        Reached(
            preset: "odr-2015", megabytes: [500, 500, 500, 500], initial: 4, problem: "essential packs have"),
        Reached(
            preset: "odr-2015", megabytes: [500, 500, 500, 500], initial: 1, prefetched: 3,
            problem: "essential and prefetched packs have"),
        Reached(preset: "odr-2015", megabytes: Array(repeating: 400, count: 50), problem: "all packs have"),
        Reached(preset: "apple-2024", megabytes: [8000], problem: "the pack 'game/t0' has"),
        Reached(preset: "apple-2024", megabytes: [64], problem: "the tag 't0' has", isWarning: true),
        Reached(
            preset: "apple-2024", megabytes: Array(repeating: 7000, count: 10), problem: "all packs have"),
    ])
    func aLimitIsPassedByOneByte(reached: Reached) async throws {
        // With one tag each has another second one, or they would be one pack.
        let tags = reached.megabytes.indices.map { "t\($0)" }
        for excess in [UInt64(0), 1] {
            try declare(
                reached.megabytes.enumerated().map { number, size in
                    (
                        size * Self.million + (number == 0 ? excess : 0),
                        reached.isOneTag && number > 0 ? ["t0", tags[number]] : [tags[number]]
                    )
                }, initial: Array(tags.prefix(reached.initial)),
                prefetch: Array(tags.dropFirst(reached.initial).prefix(reached.prefetched)))
            let result = try await plan("--limits", reached.preset)
            let findings = try #require(try result.json()["findings"]?.elements)
            let problems = findings.compactMap { $0["problem"]?.text }
            #expect(findings.allSatisfy { $0["remedy"]?.text?.isEmpty == false })
            #expect(
                problems.contains { $0.hasPrefix(reached.problem) && $0.contains(" 1 more than ") }
                    == (excess == 1),
                "\(problems)")
            let isRefused = reached.isBeyond || excess == 1 && !reached.isWarning
            #expect(result.exitCode == (isRefused ? 78 : 0), "\(result.errorText)")
        }
        #expect(try await plan("--limits", "none").exitCode == 0)
    }
}
