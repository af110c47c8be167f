import FaultServer
import Foundation
import Sampling
import Testing
import VaultBase

/// `--progress json`: every line of standard error is an object, for other programs.
struct ProgressLinesTests {
    let world: World

    init() async throws {
        world = try await World("one", "two") { world in
            for (seed, id) in ["one", "two"].enumerated() {
                try world.write("\(id)/noise", Bytes.random(6 << 20, seed: UInt64(seed)))
            }
        }
    }

    private struct Line: Decodable {
        let activity, pack, outcome, category, error, note: String?
        let packs: Int?
        let bytes, total: UInt64?
        let fraction: Double?
    }

    /// Runs a command, and expects what holds for every command: each line is of one kind, the fraction never goes back and is 1 in the
    /// last line of a success only, and there are at most ten lines of progress a second.
    private func lines(
        of words: Words, exitCode: Int32 = 0, through wrapper: [String] = []
    ) async throws -> [Line] {
        let start = ContinuousClock.now
        let result = try await world.run("\(words) --progress json", through: wrapper)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        #expect(result.exitCode == exitCode, "\(result.errorText)")
        let lines = try result.errorText.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        for line in lines {
            #expect([line.activity, line.outcome, line.note].count { $0 != nil } == 1, "\(line)")
        }
        let fractions = lines.compactMap(\.fraction)
        #expect(fractions == fractions.sorted(), "\(fractions)")
        #expect(Double(lines.count { $0.activity != nil }) <= seconds * 10 + 1)
        #expect(lines.count { $0.outcome != nil } == 1)
        let last = try #require(lines.last)
        #expect(last.outcome == (exitCode == 0 ? "done" : "failed"))
        #expect((last.fraction == 1) == (exitCode == 0))
        #expect(lines.dropLast().allSatisfy { ($0.fraction ?? 0) < 1 })
        return lines
    }

    @Test(
        arguments: [
            ("seal $WORK/one -o $WORK/own.avpack $KEYS", ["sealing"]),
            ("publish $VAULT --dry-run --compression max", ["sealing"]),
            ("plan $VAULT --updates", ["sealing"]),
            ("fetch $SITE $CLIENT", ["fetching"]), ("fetch $SITE $CLIENT --dry-run", []),
            ("downloader $SITE $STORE $TRUST --request install", ["fetching"]),
            ("audit $SITE $TRUST $KEYS", ["checking"]), ("upload $SITE $WORK/host", ["verifying"]),
        ] as [(Words, [String])])
    func commands(words: Words, activities: [String]) async throws {
        let lines = try await lines(of: words)
        for activity in activities {
            let own = lines.filter { $0.activity == activity }
            #expect(!own.isEmpty, "\(activity)")
            #expect(own.allSatisfy { $0.bytes != nil && $0.fraction != nil })
        }
    }

    /// Of two packs of one size, the second one begins at the half.
    @Test(
        arguments: [
            ("publish $VAULT --dry-run --compression max", "pread64"), ("plan $VAULT --updates", "pread64"),
            ("audit $SITE $TRUST", "pread64"), ("mirror $SITE $WORK/copy $TRUST", "pwrite64"),
        ] as [(Words, String)])
    func theFractionIsOfTheWhole(words: Words, call: String) async throws {
        let slow = Sandbox.injecting("delay_enter=110000", into: call, from: 1)
        let lines = try await lines(of: words, through: slow).filter { $0.pack != nil }
        for (name, expected) in [("one", 0...0.51), ("two", 0.49...1)] as [(String, ClosedRange<Double>)] {
            let own = lines.filter { $0.pack?.hasPrefix("packs/\(name).") == true || $0.pack == name }
            #expect(!own.isEmpty, "\(name): \(lines)")
            for line in own { #expect(expected.contains(try #require(line.fraction)), "\(line)") }
        }
    }

    /// Both packs are one activity.
    @Test func theFractionOfAVerification() async throws {
        try await world.fetch().succeeded()
        let slow = Sandbox.injecting("delay_enter=20000", into: "pread64", from: 1)
        let lines = try await lines(of: "verify $STORE $KEYS", through: slow).filter { $0.activity != nil }
        #expect(lines.allSatisfy { $0.activity == "verifying" && $0.fraction != nil })
        let fractions = lines.dropFirst().compactMap(\.fraction)
        #expect(fractions.contains { $0 > 0 && $0 < 0.5 } && fractions.contains { $0 > 0.5 }, "\(fractions)")
    }

    @Test func commandsOfAStore() async throws {
        try await world.run("downloader $SITE $STORE $TRUST --request install").succeeded()
        // Lines are 100 ms apart, and a quick machine opens a pack sooner.
        let slow = Sandbox.injecting("delay_enter=60000", into: "pwrite64", from: 1)
        let unlocked = try await lines(of: "unlock $STORE $KEYS", through: slow)
        #expect(unlocked.contains { $0.activity == "opening" && $0.total != nil && $0.fraction != nil })
        #expect(unlocked.contains { $0.note == "loaded  one" })
        for words in ["verify $STORE $KEYS", "repair $SITE $STORE $KEYS"] as [Words] {
            let lines = try await lines(of: words)
            #expect(lines.contains { $0.activity == "verifying" && $0.pack == "one" })
        }
    }

    /// A host that sends slowly.
    @Test func aSlowDownload() async throws {
        let server = try FaultServer(world.site) { _ in
            .changed { $0.pace = (1 << 17, .milliseconds(40)) }
        }
        let fetching = try await lines(of: "fetch \(server.url) $CLIENT").filter { $0.activity == "fetching" }
        #expect(fetching.count > 3)
        #expect(fetching.allSatisfy { $0.fraction != nil && $0.total != nil })
        #expect(fetching.contains { $0.packs == 2 })
    }

    @Test func failures() async throws {
        try await world.fetch("one").succeeded()
        let missing = try await lines(of: "fetch $SITE $CLIENT nothing", exitCode: 66)
        #expect(missing.last?.category == "missing")
        #expect(missing.last?.error?.hasPrefix("nothing: ") == true)
        let server = try FaultServer(world.site) { $0.path.hasSuffix("two.avpack") ? .status(404) : .file }
        let failed = try await lines(of: "fetch \(server.url) $CLIENT --all", exitCode: 72)
        #expect(failed.last?.category == "notHosted")
        _ = try await lines(of: "open $WORK/none.avpack -o $WORK/opened $KEYS", exitCode: 66)
    }

    /// The program takes the place of the command, and standard error is its own then.
    @Test func aProgramWithAccess() async throws {
        try world.settings { try $0.change("packs") { try $0.change("one") { $0["tags"] = ["level"] } } }
        try await world.publish()
        let result = try await world.run(
            "access level $CLIENT --site $SITE --progress json -- sh -c \("echo own >&2; exit 3")")
        #expect(result.exitCode == 3)
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.last == "own" && lines.dropLast().last == #"{"outcome":"done","fraction":1.0}"#)
    }

    /// For people: what changed, what it cost, then what did not change.
    @Test func whatWasReceived() async throws {
        try await world.fetch("one").succeeded()
        let server = try FaultServer(world.site) { _ in .file }
        let result = try await world.run("fetch \(server.url) $CLIENT").succeeded()
        try await server.rest()
        let bytes = UInt64(server.exchanges.reduce(0) { $0 + $1.bodyBytes })
        #expect(
            result.errorText
                == "loaded  two\nreceived  \(bytes.sizeInUnits), metadata included\nup to date  one\n")
    }

    /// The other forms: the answers are the same.
    @Test func formsOfProgress() async throws {
        let bar = try await world.run("fetch $SITE $CLIENT --progress bar --json").succeeded()
        #expect(try bar.json()["packs"]?.elements?.count == 2)
        let none = try await world.run("fetch $SITE $CLIENT --progress none").succeeded()
        #expect(none.errorText == "up to date  2 packs\n")
        try await world.run("fetch $SITE $CLIENT --progress lines").failed(64, naming: "--progress")
    }
}
