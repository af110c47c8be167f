import FaultServer
import Sampling
import Testing

@testable import AssetVault
@testable import SealedPack
@testable import VaultAuthoring

/// Every step of every operation, killed right after it: the version in use stays complete, repeating the command
/// succeeds, and no stored byte is requested again.
@Suite(.timeLimit(.minutes(20))) struct KilledAtEachStepTests {
    @Test func everyStepIsReached() {
        let reached = KilledOperation.allCases.flatMap { operation in
            KilledOperation.Start.allCases.flatMap { operation.steps(from: $0) }
        }
        // `SmallUpdateTests` see to the one that needs pieces of an earlier version, `KilledSetTests` to those of sets, `ShortRoomTests`
        // to the one that needs a small disk.
        let others: [StagingStep] = [
            .pieceReused, .piecesFreed, .readyRecorded, .switchSaved, .versionSwitched, .switchEnded,
        ]
        #expect(Set(reached).union(others) == Set(StagingStep.allCases))
    }

    private struct Kill: Hashable {
        let operation: KilledOperation
        let start: KilledOperation.Start
        let step: StagingStep
    }

    /// Every step of every operation; in a sample every step in an eighth of the operations.
    private static let kills: Set<Kill> = {
        let all = KilledOperation.allCases.flatMap { operation in
            KilledOperation.Start.allCases.flatMap { start in
                operation.steps(from: start).map { Kill(operation: operation, start: start, step: $0) }
            }
        }
        let chosen = Dictionary(grouping: all, by: \.step).flatMap { step, kills in
            kills.sample((kills.count + 7) / 8, for: "killed at \(step)")
        }
        return Set(chosen)
    }()

    @Test(arguments: KilledOperation.allCases, KilledOperation.Start.allCases)
    func once(operation: KilledOperation, start: KilledOperation.Start) async throws {
        let steps = operation.steps(from: start).filter {
            Self.kills.contains(Kill(operation: operation, start: start, step: $0))
        }
        guard !steps.isEmpty else { return }
        let stores = try await KilledStores(operation, from: start)
        for step in steps {
            for time in step == .pieceWritten ? [1, stores.ranges.count] : [1] {
                try await killOnce(at: step, time, stores)
            }
        }
    }

    private func killOnce(at step: StagingStep, _ time: Int, _ stores: KilledStores) async throws {
        let hint = "\(stores.operation) from \(stores.start), killed at \(step):\(time)"
        let store = try await stores.store("\(step)-\(time)")
        let asked = stores.server.packs.count
        let sent = try await stores.server.packBytesAtRest
        let killed = try await stores.run(in: store, dyingAt: "\(step):\(time)")
        try #require(killed.exitCode == 137, "\(killed.errorText) \(hint)")
        let askedByFirst = stores.server.packs.count
        try await stores.expectOldOrNew(in: store, hint)
        let missing = try await missing(after: step, time, stores, in: store)
        try await stores.run(in: store).succeeded()
        try await stores.expectEnd(in: store, hint)
        guard stores.operation.downloads else {
            return #expect(stores.server.packs.count == asked, "\(hint)")
        }

        let again = stores.server.packs.dropFirst(askedByFirst)
            .reduce(0) { $0 + $1.asked(of: stores.packLength) }
        #expect(again == missing, "asked for again, \(hint)")
        let onItsWay = GearHash.maximumPiece
        #expect(stores.server.packBytes - sent <= stores.packLength + onItsWay, "\(hint)")
    }

    /// Bytes of the pack that are not kept when a download was killed.
    private func missing(after step: StagingStep, _ time: Int, _ stores: KilledStores, in store: String)
        async throws -> Int
    {
        let end = Int(stores.ranges.end)
        switch step {
        case .scratchRecovered, .recordRecovered, .downloadRecorded, .downloadClaimed:
            return stores.packLength - PackHeader.length - PackFooter.length
        case .tailVerified: return end - PackHeader.length
        case .openingBegan where stores.operation.downloads: return end - PackHeader.length
        case .pieceWritten:
            // Others are written at the same time.
            let kept = try await stores.keptPieces(in: store)
            #expect(kept.prefix(time).allSatisfy { $0 }, "a piece that counts was not written")
            return stores.missing(besides: kept)
        default: return 0
        }
    }

    /// Killed at a step, and run again: old or new at each time, and less than half of the pack is sent.
    private func expectSmallUpdate(
        of stores: KilledStores, in store: String, killedAt step: StagingStep, _ hint: String
    ) async throws {
        let sent = stores.server.packBytes
        #expect(try await stores.run(in: store, dyingAt: "\(step)").exitCode == 137, "\(hint)")
        try await stores.expectOldOrNew(in: store, hint)
        try await stores.run(in: store).succeeded()
        try await stores.expectEnd(in: store, hint)
        #expect(stores.server.packBytes - sent < stores.packLength / 2, "\(hint)")
    }

    /// Without the key, and where most of version 2 is in the live tree: its file never gets those pieces.
    @Test(arguments: [KilledOperation.keyless, .downloader, .unlock])
    func aPackThatRestsOnTheLiveTree(operation: KilledOperation) async throws {
        let stores = try await KilledStores(operation, from: .loaded) { _ in Bytes.random(10 << 16, seed: 1) }
        for step in operation.steps(from: .loaded).filter({ $0 != .downloadNamed })
            .sample(3, for: "aPackThatRestsOnTheLiveTree \(operation)")
        {
            let hint = "\(operation) of a pack that rests on a tree, killed at \(step)"
            let store = try await stores.store("resting-\(step)")
            try await expectSmallUpdate(of: stores, in: store, killedAt: step, hint)
        }
    }

    /// A version that stays sealed, and has most pieces in the one before.
    @Test func aVersionThatRestsOnTheLiveOne() async throws {
        let stores = try await KilledStores(.sealed, from: .loaded) { _ in Bytes.random(10 << 16, seed: 1) }
        for step in KilledOperation.sealed.steps(from: .loaded).filter({ $0 != .downloadNamed })
            .sample(4, for: "aVersionThatRestsOnTheLiveOne")
        {
            let hint = "a version that rests on the live one, killed at \(step)"
            let store = try await stores.store("sealed-\(step)")
            try await expectSmallUpdate(of: stores, in: store, killedAt: step, hint)
            #expect(
                try stores.world.files(in: "permanent/level", of: store).contains { $0.hasSuffix(".places") })
        }
    }

    /// A pack that waits for its key, and has most pieces in the one that waited before.
    @Test(arguments: [KilledOperation.keyless, .downloader])
    func aPackThatRestsOnTheOneThatWaited(operation: KilledOperation) async throws {
        let stores = try await KilledStores(
            operation, from: .fresh, noise: { _ in Bytes.random(10 << 16, seed: 1) },
            preparing: { world in
                let isDownloader = operation == .downloader
                let result =
                    isDownloader
                    ? try await world.download("install") : try await world.fetch(withKeys: false)
                try result.succeeded()
            })
        for step in operation.steps(from: .fresh).filter({ $0 != .downloadNamed })
            .sample(3, for: "aPackThatRestsOnTheOneThatWaited \(operation)")
        {
            let hint = "\(operation) of a pack that rests on one that waited, killed at \(step)"
            let store = try await stores.store("waiting-\(step)")
            let sent = stores.server.packBytes
            #expect(try await stores.run(in: store, dyingAt: "\(step)").exitCode == 137, "\(hint)")
            try await stores.run(in: store).succeeded()
            #expect(
                try stores.world.files(in: "shared/packs/level", of: store).contains {
                    $0.hasSuffix(".places")
                },
                "\(hint)")
            try await stores.expectEnd(in: store, hint)
            #expect(stores.server.packBytes - sent < stores.packLength / 2, "\(hint)")
        }
    }

    /// An interrupted removal is finished by the next command; the pack returns only when it is requested.
    @Test(
        arguments: [StagingStep.removalRecorded, .linkRemoved, .versionsRemoved, .waitingRemoved]
            .sample(2, for: "fetchedAfterAnInterruptedRemoval"))
    func fetchedAfterAnInterruptedRemoval(step: StagingStep) async throws {
        let stores = try await KilledStores(.remove, from: .loaded)
        let (store, unasked) = (try await stores.store("asked"), try await stores.store("unasked"))
        let fetch = KilledOperation.opened.words(stores.server.url, store)
        for store in [store, unasked] {
            try await stores.run(.opened, in: store).succeeded()
            #expect(try await stores.run(in: store, dyingAt: "\(step)").exitCode == 137)
        }
        try await stores.world.run("\(fetch) level").succeeded()
        try StoreContent(loaded: 2).expect(in: store, "\(step)")
        try await stores.expectOldOrNew(in: store, "\(step)")
        try await stores.run(.opened, in: unasked).succeeded()
        try StoreContent().expect(in: unasked, "\(step)")
    }

    /// A pack that waited for an older site never replaces an activated version, with or without a readable record.
    @Test(
        arguments: [StagingStep.manifestSaved, .versionRenamed, .versionActivated, .activationRecorded]
            .sample(2, for: "anOlderPreloadDoesNotReplaceTheLiveVersion"))
    func anOlderPreloadDoesNotReplaceTheLiveVersion(step: StagingStep) async throws {
        let stores = try await KilledStores(.unlock, from: .loaded)
        try await stores.publishThird()
        for isDamaged in [false, true].sample(1, for: "anOlderPreload \(step)") {
            let store = try await stores.store("\(step)-\(isDamaged)")
            let fetch = KilledOperation.opened.words(stores.server.url, store)
            #expect(try await stores.world.run(fetch, dyingAt: "\(step)").exitCode == 137)
            let before = try await stores.world.status(of: store)["level"]?.version ?? 0
            if isDamaged {
                try stores.spoilRecord(in: store)
            }
            try await stores.run(in: store).succeeded()
            let after = try await stores.world.status(of: store)["level"]?.version ?? 0
            #expect(after >= before, "\(step): \(before), then \(after)")
            #expect(before == ([.versionActivated, .activationRecorded].contains(step) ? 3 : 1))
            try await stores.world.run(fetch).succeeded()
            try StoreContent(loaded: 3).expect(in: store, "\(step)")
        }
    }

    /// A newer manifest without its pack, and a lost record: the waiting version is no longer listed, so it is not
    /// opened; the loaded version stays until the next fetch.
    @Test func aManifestWithoutItsPack() async throws {
        let stores = try await KilledStores(.unlock, from: .loaded)
        try await stores.publishThird()
        let store = try await stores.store("alone")
        let fetch = KilledOperation.keyless.words(stores.server.url, store)
        #expect(try await stores.world.run(fetch, dyingAt: "manifestSaved").exitCode == 137)
        try stores.spoilRecord(in: store)
        try await stores.run(in: store).succeeded()
        #expect(try await stores.world.status(of: store)["level"]?.version == 1)
        try await stores.world.run("\(fetch) $KEYS").succeeded()
        try StoreContent(loaded: 3).expect(in: store, "")
    }

    /// A downloader and the app were killed with downloads of two versions: the older file goes, too.
    @Test func downloadsOfBothRoles() async throws {
        let stores = try await KilledStores(.downloader, from: .loaded)
        let store = try await stores.store("both")
        #expect(try await stores.run(in: store, dyingAt: "downloadNamed").exitCode == 137)
        try await stores.publishThird()
        let fetch = KilledOperation.opened.words(stores.server.url, store)
        #expect(try await stores.world.run(fetch, dyingAt: "downloadNamed").exitCode == 137)
        try await stores.world.run(fetch).succeeded()
        try StoreContent(loaded: 3).expect(in: store, "")
    }

    /// The recovery from an interruption is interrupted as well.
    @Test(
        arguments: [
            (
                .opened,
                [
                    .openingBegan, .pieceWritten, .treeWritten, .manifestSaved, .versionRenamed,
                    .versionActivated,
                ]
            ),
            (.sealed, [.manifestSaved, .versionRenamed, .versionActivated]),
            (.downloader, [.manifestSaved, .packShared]),
            (.unlock, [.versionRenamed, .versionActivated]),
            (.remove, [.removalRecorded, .linkRemoved, .versionsRemoved, .waitingRemoved]),
        ] as [(KilledOperation, [StagingStep])])
    func killedDuringRecovery(operation: KilledOperation, first: [StagingStep]) async throws {
        let stores = try await KilledStores(operation, from: .loaded)
        let recovering =
            KilledOperation.recovering
            + (operation == .remove ? [.linkRemoved, .versionsRemoved, .waitingRemoved] : [])
        let pairs = Sampling.pairs(first, recovering, for: "whileItRecovers \(operation)")
        for (step, second) in pairs.sample(3, for: "pairs of \(operation)") {
            let hint = "\(operation), killed at \(step), then at \(second)"
            let store = try await stores.store("\(step)-\(second)")
            #expect(try await stores.run(in: store, dyingAt: "\(step)").exitCode == 137, "\(hint)")
            try await stores.expectOldOrNew(in: store, hint)
            #expect(try await stores.run(in: store, dyingAt: "\(second)").exitCode == 137, "\(hint)")
            try await stores.expectOldOrNew(in: store, hint)
            try await stores.run(in: store).succeeded()
            try await stores.expectEnd(in: store, hint)
        }
    }
}
