import AssetVaultFoundation
import FaultServer
import Foundation
import Sampling
import SealedPack
import Synchronization
import Testing

@testable import AssetVault

/// How far a request is, as an app shows it: it reaches its end, however the request ends.
@Suite(.timeLimit(.minutes(2))) struct RequestProgressTests {
    let world: World
    let client: VaultClient

    init() async throws {
        world = try await World.withLevels()
        client = try world.client()
    }

    private func request(_ tags: String...) -> ResourceRequest {
        ResourceRequest(tags: Set(tags), of: client)
    }

    /// All updates until their end.
    private func fractions(_ updates: LoadingProgressUpdates) async -> [Double] {
        var fractions: [Double] = []
        for await progress in updates { fractions.append(progress.fraction) }
        return fractions
    }

    private func waitUntilFinished(_ progress: Progress) async throws {
        try await wait(for: "the end of \(progress)") { progress.isFinished }
        #expect(progress.fractionCompleted == 1, "\(progress)")
    }

    /// Also an observer that comes late learns that.
    @Test func nothingIsMissing() async throws {
        try await request("level2").beginAccessing()
        let request = request("level2")
        let progress = request.makeProgress()
        let updates = request.progressUpdates
        async let seen = fractions(updates)
        try await request.beginAccessing()
        try await waitUntilFinished(progress)
        #expect(progress.totalUnitCount == 1 && progress.completedUnitCount == 1)
        #expect(await seen == [1])
        try await waitUntilFinished(request.makeProgress())
    }

    @Test func aConditionalBegin() async throws {
        try await request("level2").beginAccessing()
        let request = request("level2")
        let progress = request.makeProgress()
        let updates = request.progressUpdates
        async let seen = fractions(updates)
        #expect(try await request.conditionallyBeginAccessing())
        #expect(await seen == [1])
        try await waitUntilFinished(progress)
    }

    /// It was not an attempt: observers from before and after it see the next one.
    @Test func aRefusedConditionalBegin() async throws {
        let request = request("level2")
        let before = request.makeProgress()
        let early = request.progressUpdates
        #expect(try await !request.conditionallyBeginAccessing())
        let after = request.makeProgress()
        let late = request.progressUpdates
        async let first = fractions(early)
        async let second = fractions(late)
        try await request.beginAccessing()
        for progress in [before, after] {
            try await waitUntilFinished(progress)
            #expect(progress.totalUnitCount > 500_000)
        }
        #expect(await first.last == 1)
        #expect(await second.last == 1)
    }

    /// The same where the begin fails, and where no other one follows.
    @Test(arguments: ["level2", "unknown"]) func theEndAfterARefusal(tag: String) async throws {
        try await client.refresh()
        let request = request(tag)
        let early = request.progressUpdates
        if tag == "unknown" {
            #expect(
                await category { _ = try await request.conditionallyBeginAccessing() } == .unknownTag)
        } else {
            #expect(try await !request.conditionallyBeginAccessing())
        }
        let late = request.progressUpdates
        request.endAccessing()
        #expect(await fractions(early).isEmpty)
        #expect(await fractions(late).isEmpty)
    }

    @Test func misuse() async throws {
        let empty = request()
        let updates = empty.progressUpdates
        async let none = fractions(updates)
        #expect(await category { try await empty.beginAccessing() } == .usage)
        #expect(await none.isEmpty)
        let ended = request("level2")
        let before = ended.progressUpdates
        async let seen = fractions(before)
        ended.endAccessing()
        #expect(await seen.isEmpty)
        let late = ended.progressUpdates
        async let after = fractions(late)
        #expect(await category { try await ended.beginAccessing() } == .usage)
        #expect(await after.isEmpty)
    }

    /// The object is gone.
    @Test func aRequestThatNeverBegins() async throws {
        let updates: LoadingProgressUpdates
        do { updates = request("level2").progressUpdates }
        #expect(await fractions(updates).isEmpty)
    }

    /// Of an attempt that failed the updates end; those that were asked for afterwards are of the next one.
    @Test func aSecondAttempt() async throws {
        world.answer { _ in .status(404) }
        let request = request("level2")
        let failing = request.progressUpdates
        async let first = fractions(failing)
        #expect(await category { try await request.beginAccessing() } == .notHosted)
        #expect(await first.last != 1)
        world.answer { _ in .file }
        let progress = request.makeProgress()
        let updates = request.progressUpdates
        async let second = fractions(updates)
        try await Task.sleep(for: .milliseconds(50))
        #expect(!progress.isFinished)
        try await request.beginAccessing()
        try await waitUntilFinished(progress)
        let fractions = await second
        #expect(fractions == fractions.sorted() && fractions.last == 1, "\(fractions)")
        #expect(progress.totalUnitCount > 500_000)
    }

    private var sentBytes: Int {
        world.server.exchanges.filter(\.request.isForPack).reduce(0) { $0 + $1.bodyBytes }
    }

    /// By the progress that an app shows: nothing is sent meanwhile.
    @Test func pausing() async throws {
        world.answer { _ in .changed { $0.pace = (count: 1 << 12, pause: .milliseconds(30)) } }
        let request = request("level2")
        let progress = request.makeProgress()
        let begun = Mutex(false)
        async let access: Void = {
            try await request.beginAccessing()
            begun.withLock { $0 = true }
        }()
        try await wait(for: "the first bytes") { progress.completedUnitCount > 0 }
        progress.pause()
        // What is on its way comes to its end.
        try await wait(for: "the end of all transfers") {
            world.server.closed == world.server.exchanges.count
        }
        let sent = sentBytes
        try await Task.sleep(for: .milliseconds(400))
        #expect(sentBytes == sent && sent < 500_000 && !begun.withLock { $0 })
        progress.resume()
        try await wait(for: "more bytes") { sentBytes > sent }
        // Else it would wait for ever.
        request.resume()
        try await access
        try await waitUntilFinished(progress)
    }
}
