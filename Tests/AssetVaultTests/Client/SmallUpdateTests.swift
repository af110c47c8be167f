import AssetVault
import FaultServer
import Glibc
import Synchronization
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

@testable import SealedPack

/// An update of a pack that stays sealed downloads what changed.
@Suite(.timeLimit(.minutes(5))) struct SmallUpdateTests {
    let pack: ChangedPack
    private var world: World { pack.world }
    private let one = PackID.one

    init() async throws { pack = try await ChangedPack() }

    /// Over a metered network only what must come counts.
    @Test func anAllowanceAboveAnUpdate() async throws {
        _ = try await pack.client(.sealed).fetch()
        try await pack.publish(2)
        func careful(_ allowance: UInt64) throws -> VaultClient {
            return try world.client {
                $0.form = .sealed
                $0.network = .metered
                $0.policy.meteredAllowance = allowance
            }
        }
        let tooCareful = try careful(50_000)
        let cost = try await tooCareful.costs(of: .only([one])).reduce(0) { $0 + $1.cost.bytes }
        #expect(50_001..<120_000 ~= cost)
        let error = try #require(await thrown { _ = try await tooCareful.fetch(.only([one])) })
        #expect(error.category == .limit && error.missingBytes == cost - 50_000, "\(error)")
        let client = try careful(cost)
        _ = try await client.fetch(.only([one]))
        try await pack.expectContent(2, client)
    }

    @Test func onlyChangedPiecesAreFetched() async throws {
        let client = try pack.client(.sealed)
        _ = try await client.fetch()
        let cost = try await pack.publishSecond(to: client, reusing: pack.hosted(client))
        #expect(cost.reusedPieces > 8 && cost.bytes < 120_000)
        let before = (try await world.server.packBytesAtRest, world.server.packs.count)
        let costs = try await client.costs()
        #expect(costs.map(\.id) == [one] && costs.map(\.version) == [3] && costs.map(\.cost) == [cost])
        let lookedAt = (try await world.server.packBytesAtRest, world.server.packs.count)
        #expect(lookedAt.0 > before.0 && lookedAt.0 - before.0 < 20_000)
        #expect(try Folder(opening: world.layout.ephemeral).names().isEmpty)
        let updates = client.statusUpdates(for: one)
        _ = try await client.fetch()
        #expect(UInt64(try await world.server.packBytesAtRest - lookedAt.0) == cost.bytes)
        #expect(world.server.packs.count - lookedAt.1 == cost.requests)
        try await pack.expectContent(2, client)
        #expect(try await client.costs() == [])
        client.endStatusUpdates()
        // What was taken over counts as present.
        var last: StatusUpdate?
        for await update in updates { last = update }
        #expect(last == .finished(one, .loaded))
    }

    enum Host: CaseIterable { case near, failing, slow }

    /// The next parts are requested before the first one was received; one after the other at a host that failed, or where bytes come
    /// slowly.
    @Test(arguments: Host.allCases) func severalRequestsAtATime(_ host: Host) async throws {
        let client = try pack.client(.sealed)
        _ = try await client.fetch()
        var files = ChangedPack.files(1)
        for number in [1, 4, 7] { files["file \(number)"] = noise(90_000, seed: 200 + number) }
        try await world.publish(files)
        let open = Mutex((now: 0, most: 0))
        world.answer { request in
            // The tail.
            switch (request.earlier, host) {
            case (0, .near), (1, .failing): return .file
            case (0, .slow): return .changed { $0.pace = ($0.body.count / 3 + 1, .milliseconds(1_600)) }
            case (0, .failing): return .status(503)
            default: break
            }
            open.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            // A second one comes, or is not to come. A response that takes 30 s is requested again.
            let patience = host == .near ? 1_000 : 50
            for _ in 0..<patience where open.withLock({ $0.most }) < 2 { usleep(10_000) }
            open.withLock { $0.now -= 1 }
            return .file
        }
        _ = try await client.fetch()
        let most = open.withLock { $0.most }
        #expect(host == .near ? most > 1 : most == 1, "\(most)")
        try await client.expect(files, in: one)
    }

    /// Without a key: waiting packs are reused like loaded ones.
    @Test func aDownloaderReusesPiecesWithoutAKey() async throws {
        #expect(try await world.downloader().run(.install).firstError == nil)
        try await pack.publish(2)
        #expect(try await pack.sentByDownloader() < 120_000)
        let client = try world.client()
        try await client.unlock()
        try await pack.expectContent(2, client)
    }

    /// A host without ranges: the whole pack is sent, which is reported.
    @Test func aHostWithoutRanges() async throws {
        let client = try pack.client(.sealed)
        _ = try await client.fetch()
        try await pack.publish(2)
        world.answer { _ in .wholeFile }
        let updates = client.statusUpdates(for: one)
        let before = world.server.packs.count
        let costs = try await client.costs()
        #expect(costs.count == 1 && costs[0].cost.bytes == costs[0].cost.length)
        let lookedAt = world.server.packs.count
        _ = try await client.fetch()
        try await world.server.rest()
        #expect(world.server.packs.dropFirst(before).map(\.status) == [200, 200])
        #expect(world.server.packs[lookedAt].bodyBytes == Int(costs[0].cost.length))
        try await pack.expectContent(2, client)
        client.endStatusUpdates()
        var reported = 0
        for await update in updates {
            if case .sentWhole(one, _) = update { reported += 1 }
        }
        #expect(reported == 2)
    }

    /// A host that sends parts at first, and then the whole pack for each of several requests: one of them is read.
    @Test func aHostThatStopsSendingParts() async throws {
        let client = try pack.client(.sealed)
        _ = try await client.fetch()
        var files = ChangedPack.files(1)
        for number in [1, 4, 7] { files["file \(number)"] = noise(90_000, seed: 200 + number) }
        try await world.publish(files)
        let before = world.server.packs.count
        let open = Mutex(0)
        world.answer { request in
            if request.earlier == 0 { return .file }
            // All are under way before the first one is answered.
            open.withLock { $0 += 1 }
            for _ in 0..<3_000 where open.withLock({ $0 }) < 3 { usleep(10_000) }
            return .wholeFile
        }
        let updates = client.statusUpdates(for: one)
        _ = try await client.fetch()
        client.endStatusUpdates()
        try await world.server.rest()
        #expect(world.server.packs.dropFirst(before).map(\.status) == [206, 200, 200, 200])
        var read = 0
        for await update in updates {
            if case .sentWhole(one, _) = update { read += 1 }
        }
        #expect(read == 1)
        try await client.expect(files, in: one)
    }

    /// A changed sealed pack of an earlier version is not reused, and does no harm.
    @Test func aChangedOldPack() async throws {
        let client = try pack.client(.sealed)
        _ = try await client.fetch()
        let path = try await client.store.held(one).root
        try flipByte(of: path, at: 150_000)
        try await pack.publish(2)
        let before = try await world.server.packBytesAtRest
        _ = try await client.fetch()
        let sent = try await world.server.packBytesAtRest - before
        #expect(sent > 120_000 && sent < 400_000, "\(sent)")
        try await pack.expectContent(2, client)
    }

    /// The partial download of a superseded version is reused.
    @Test func anEarlierPartialDownload() async throws {
        let arrived = try await pack.interruptHalfway(withKeys: false)
        #expect(try names(in: world.layout.ephemeral).count == 1)
        let client = try pack.client(.sealed)
        let cost = try await pack.publishSecond(to: client, reusing: arrived)
        #expect(UInt64(try await pack.sent(by: client)) == cost.bytes)
        #expect(cost.reusedPieces > 0)
        try await pack.expectContent(2, client)
        #expect(try names(in: world.layout.ephemeral).isEmpty)
    }

    /// A pack with the same content key under another ID, as after a change of names.
    @Test func aRenamedPackIsReused() async throws {
        _ = try await pack.client(.sealed).fetch()
        let layout = world.layout
        for area in [layout.permanent, layout.permanent.appending("@state")] {
            try FileSystem.move(
                area.appending("levels"), to: area.appending("stages"), replacing: false)
        }
        try await pack.publish(2)
        let before = try await world.server.packBytesAtRest
        let client = try pack.client(.sealed)
        _ = try await client.fetch()
        #expect(try await world.server.packBytesAtRest - before < 120_000)
        try await pack.expectContent(2, client)
    }

    /// The old pack stays open, so its removal does no harm.
    @Test func theOldPackIsRemovedDuringTheUpdate() async throws {
        let client = try pack.client(.sealed)
        _ = try await client.fetch()
        try await pack.publish(2)
        let home = world.place.home
        world.answer { request in
            // The tail is asked for when the old packs are open.
            for name in (try? names(in: home)) ?? [] where name.hasSuffix(".avpack") {
                try? FileSystem.removeFile(home.appending(name))
            }
            return .file
        }
        let before = try await world.server.packBytesAtRest
        _ = try await client.fetch()
        #expect(try await world.server.packBytesAtRest - before < 120_000)
        try await pack.expectContent(2, client)
    }
}
