import FaultServer
import Foundation
import Sampling
import Testing

/// A downloader and an app on one store, started together and killed at random moments, again and again, while versions are
/// published.
@Suite(.timeLimit(.minutes(60))) struct RandomlyKilledFetchTests {
    private let wanted = Sampling.rounds(16, whole: 300)
    private let sites: PreparedSites
    private let server: FaultServer
    private let packs = ["level": 9 << 16, "small": 90 << 10]

    init() async throws {
        sites = try await PreparedSites(6, packs: packs)
        server = try FaultServer(sites.live) { request in
            guard request.isForPack else { return .file }
            return .changed { $0.pace = (64 << 10, .milliseconds(2)) }
        }
    }

    private func command(_ words: [String], _ store: String, after moment: Double? = nil) async throws
        -> Int32
    {
        let result = try await sites.world.run(
            "\(words) \(server.url) --store \(store) --trust \(sites.world.root)",
            through: moment.map(Killing.after) ?? [])
        // The other process may be doing the same work.
        #expect([0, 75, 137].contains(result.exitCode), "\(words): \(result.errorText)")
        return result.exitCode
    }

    private var app: [String] { ["fetch"] + sites.world.keys }

    /// Starts both, and returns how many of them were killed.
    private func killed(in store: String, after moments: [Double]) async throws -> Int {
        async let first = command(app, store, after: moments[0])
        async let second = command(["downloader", "--request", "update"], store, after: moments[1])
        return try await [first, second].count { $0 == 137 }
    }

    @Test func oldOrNewAfterEachKill() async throws {
        let whole = try await ContinuousClock().measure {
            _ = try await command(app, sites.world["timed"])
        }
        var (rounds, kills, stores) = (0, 0, 0)
        var random = SeededGenerator(for: "RandomlyKilledFetchTests")
        var moments = RandomMoments(within: whole, for: "RandomlyKilledFetchTests.moments")
        // Of those that died while they worked on packs.
        var marks: Set<String> = []
        var store = sites.world["store-0"]
        var seen: [String: Int] = [:]
        // Few kills may all miss that work.
        while kills < wanted || (marks.isEmpty && rounds < 20 * wanted) {
            rounds += 1
            let times = (0..<2).map { _ in moments.next(0.01...1.2) }
            let killed = try await self.killed(in: store, after: times)
            moments.note(wasKilled: killed > 0)
            kills += killed
            let hint = "round \(rounds), \(times) s of \(whole)"
            let left = try? FileManager.default.contentsOfDirectory(atPath: "\(store)/permanent/@work")
            marks.formUnion(left ?? [])
            try await expectWhole(in: store, &seen, hint)
            let isDone = packs.keys.allSatisfy { seen[$0] == sites.version }
            guard isDone || Int.random(in: 0..<4, using: &random) == 0 else { continue }
            if !sites.isAtItsEnd {
                try sites.publishNext()
            } else {
                try await expectEnd(in: store, hint)
                stores += 1
                store = sites.world["store-\(stores)"]
                seen = [:]
                try sites.publish(1)
            }
        }
        try await expectEnd(in: store, "the last one")
        print(
            "\(rounds) rounds, \(kills) killed, \(marks.count) of them at work on packs, \(stores + 1) stores"
        )
        #expect(!marks.isEmpty)
    }

    /// A pack is as it was, or newer, and whole.
    private func expectWhole(in store: String, _ seen: inout [String: Int], _ hint: String) async throws {
        // Both may have died before one of them made the store.
        guard FileManager.default.fileExists(atPath: "\(store)/shared") else {
            #expect(seen.isEmpty, "the store is gone, \(hint)")
            return
        }
        let status = try await sites.world.status(of: store)
        for id in packs.keys {
            let current = "\(store)/permanent/\(id)/current"
            guard FileManager.default.fileExists(atPath: current) else {
                #expect(seen[id] == nil, "\(id) is gone, \(hint)")
                continue
            }
            let version = try #require(sites.version(of: Tree(current), id), "half of \(id), \(hint)")
            #expect(version >= seen[id] ?? 1 && version <= sites.version, "\(id) went back, \(hint)")
            #expect(status[id]?.version == Int64(version), "\(id), \(hint)")
            seen[id] = version
        }
    }

    private func expectEnd(in store: String, _ hint: String) async throws {
        #expect(try await command(app, store) == 0)
        for id in packs.keys {
            try StoreContent(loaded: UInt64(sites.version)).expect(of: id, in: store, hint)
            #expect(try sites.version(of: Tree("\(store)/permanent/\(id)/current"), id) == sites.version)
        }
        try FileManager.default.removeItem(atPath: store)
    }
}
