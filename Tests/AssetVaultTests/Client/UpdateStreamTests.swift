import AssetVault
import FaultServer
import Sampling
import Testing
import VaultHTTP
import VaultTransport

/// The updates of a client, pause and cancellation.
@Suite(.timeLimit(.minutes(5))) struct UpdateStreamTests {
    let world: World
    let one = PackID.one

    init() async throws { world = try await World.withPacks() }

    @Test func updatesOfALoadedPack() async throws {
        let client = try world.client()
        let updates = client.statusUpdates(for: one)
        let others = client.statusUpdates(for: PackID.extras)
        _ = try await client.fetch()
        client.endStatusUpdates()
        var reported: [String] = []
        var last: UInt64 = 0
        for await update in updates {
            switch update {
            case .planned(_, .prefetch, let total): reported.append("planned \(total > 900_000)")
            case .began: reported.append("began")
            case .progress(_, _, let bytes, let total):
                #expect(bytes >= last && bytes <= total)
                last = bytes
                if reported.last != "progress" { reported.append("progress") }
            case .opening: if reported.last != "opening" { reported.append("opening") }
            case .finished(_, .loaded): reported.append("loaded")
            default: reported.append("\(update)")
            }
        }
        #expect(reported == ["planned true", "began", "progress", "opening", "loaded"])
        for await update in others { Issue.record("\(update)") }
    }

    @Test func updatesOfAFailedPack() async throws {
        world.answer { _ in .status(404) }
        let client = try world.client()
        let updates = client.statusUpdates
        #expect(await category { _ = try await client.fetch() } == .notHosted)
        client.endStatusUpdates()
        var failures = 0
        for await case .failed(one, let error) in updates where error.category == .notHosted {
            failures += 1
        }
        #expect(failures == 1)
        guard case .failed = try await client.store.status(of: one).state else {
            Issue.record("the failure is not recorded")
            return
        }
    }

    /// A reader that is released or cancelled blocks nobody.
    @Test func cancelledReadersBlockNobody() async throws {
        let client = try world.client()
        let reader = Task { [updates = client.statusUpdates] in
            for await _ in updates {}
            return true
        }
        reader.cancel()
        #expect(await reader.value)
        _ = client.statusUpdates
        _ = try await client.fetch()
    }

    /// Half of the pack's pieces, then nothing more, and no end either.
    private func holdAfterHalf() {
        world.answer { request in
            request.earlier == 0
                ? .file
                : .changed { reply in
                    reply.body = Array(reply.body.prefix(reply.body.count / 2))
                    reply.ending = [.hang]
                }
        }
    }

    /// Progress counts whole pieces: the half that comes holds some of them.
    private func waitForPieces(_ updates: StatusUpdates) async {
        for await case .progress(_, _, let bytes, _) in updates where bytes > Self.somePieces { return }
    }

    /// More than index and catalog, and than no piece at all.
    private static let somePieces: UInt64 = 30_000

    /// A pause ends the transfer and keeps its bytes; it resumes in the same call.
    @Test func pausedAndResumed() async throws {
        holdAfterHalf()
        let client = try world.client()
        let updates = client.statusUpdates(for: one)
        async let fetched = client.fetch()
        await waitForPieces(updates)
        client.pause(one)
        try await wait(for: "the end of all transfers") {
            world.server.closed == world.server.exchanges.count
        }
        guard case .downloading(let bytes, let total) = try await client.store.status(of: one).state else {
            Issue.record("it is not a download")
            return
        }
        #expect(bytes > Self.somePieces && bytes < total)
        world.answer { _ in .file }
        client.resume(one)
        _ = try await fetched
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
        let sent = world.server.packs.last?.bodyBytes ?? 0
        #expect(sent <= Int(total - bytes) + World.longestPiece, "only the rest: \(sent)")
    }

    /// A paused pack blocks no other one, and is queued again when it resumes.
    @Test func aPausedPackBlocksNoOtherPack() async throws {
        holdAfterHalf()
        let client = try world.client { $0.packsAtOnce = 1 }
        let (updates, others) = (
            client.statusUpdates(for: one), client.statusUpdates(for: PackID.extras)
        )
        async let fetched: Void = client.ensureLocalAvailability(of: [one, .extras])
        await waitForPieces(updates)
        world.answer { _ in .file }
        client.pause(one)
        for await case .finished(_, .loaded) in others { break }
        guard case .downloading = try await client.store.status(of: one).state else {
            Issue.record("it is not a download")
            return
        }
        client.resume(one)
        _ = try await fetched
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
    }

    @Test func cancelledWhileQueued() async throws {
        holdAfterHalf()
        var limits = TransportLimits()
        limits.idle = .seconds(2)
        let client = try world.client {
            $0.transport = SchemeTransport(HTTPTransport(limits: limits))
            $0.packsAtOnce = 1
        }
        let extras = PackID.extras
        let updates = client.statusUpdates
        async let failed = category { try await client.ensureLocalAvailability(of: [one, extras]) }
        var begun: [PackID] = []
        for await case .progress(let id, _, let bytes, _) in updates where bytes > Self.somePieces {
            begun.append(id)
            break
        }
        let waiting = begun.first == one ? extras : one
        client.cancel(waiting)
        world.answer { _ in .file }
        for id in begun {
            client.pause(id)
            client.resume(id)
        }
        #expect(await failed == .cancelled)
        #expect(try await client.store.status(of: waiting).state == .absent)
        #expect(try await client.store.status(of: #require(begun.first)).state == .loaded)
        // Later requests are not affected.
        try await client.ensureLocalAvailability(of: waiting)
    }

    @Test func cancelled() async throws {
        holdAfterHalf()
        let client = try world.client()
        let updates = client.statusUpdates(for: one)
        async let failed = category { try await client.ensureLocalAvailability(of: one) }
        await waitForPieces(updates)
        client.cancel(one)
        #expect(await failed == .cancelled)
        try await expectTheRest()
    }

    @Test func theTaskIsCancelled() async throws {
        holdAfterHalf()
        let client = try world.client()
        let updates = client.statusUpdates(for: one)
        let task = Task { await category { try await client.ensureLocalAvailability(of: one) } }
        await waitForPieces(updates)
        task.cancel()
        #expect(await task.value == .cancelled)
        try await expectTheRest()
    }

    /// The next fetch resumes what ran out of time.
    @Test func resumesAfterTheTimeIsUp() async throws {
        holdAfterHalf()
        let client = try world.client()
        try await withEnoughTime { time in
            #expect(await category { _ = try await client.fetch(within: time) } == .busy)
            guard case .downloading = try await client.store.status(of: one).state else { return Void?.none }
            return ()
        }
        try await expectTheRest()
    }

    /// Stored bytes are not fetched again, except for the incomplete piece.
    private func expectTheRest() async throws {
        world.answer { _ in .file }
        let before = world.server.packs.count
        let client = try world.client()
        guard case .downloading(let there, let total) = try await client.store.status(of: one).state else {
            Issue.record("it is not a download")
            return
        }
        try await client.ensureLocalAvailability(of: one)
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
        let sent = world.server.packs.dropFirst(before).reduce(0) { $0 + $1.bodyBytes }
        #expect(
            sent > 0 && sent <= Int(total - there) + World.longestPiece,
            "\(sent), with \(there) of \(total) there")
    }
}
