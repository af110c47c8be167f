import SealedPack
import Testing

@testable import AssetVault

/// Packs that are stored and not offered, named or listed once.
@Suite struct PlanScopeTests {
    static let triggers: [PlanTrigger] =
        ContentRequest.allCases.map(PlanTrigger.downloader) + [.app(.automatic), .app(.all)]

    private let one: PackManifest
    private let two: PackManifest
    private let id: PackID

    init() throws {
        one = try pack("gone", version: 1)
        two = try pack("gone", version: 2)
        id = one.id
    }

    @Test(arguments: triggers) func noLongerListed(_ trigger: PlanTrigger) throws {
        let loaded = try Plan([StoredPack(id: id, loaded: one, hasFailed: true)], [], trigger)
        #expect(loaded.cells == ["keep"])
        #expect(loaded.removals.isEmpty)

        let waiting = try Plan([StoredPack(id: id, waiting: one)], [], trigger)
        #expect(waiting.cells == ["open"])
        #expect(waiting.transfers.map(\.pack) == [one])
        #expect(waiting.removals.isEmpty)

        let waitsForLoaded = try Plan([StoredPack(id: id, loaded: one, waiting: two)], [], trigger)
        #expect(waitsForLoaded.cells == ["open"])
        #expect(waitsForLoaded.transfers.map(\.pack) == [two])

        let waitsInVain = try Plan([StoredPack(id: id, loaded: one, waiting: one)], [], trigger)
        #expect(waitsInVain.cells == ["keep"])
        #expect(waitsInVain.removals == [.file(StoredFile(stage: .waiting, pack: one))])

        let unfinished = try Plan([StoredPack(id: id, downloaded: two, partial: one)], [], trigger)
        #expect(unfinished.cells.isEmpty)
        #expect(
            unfinished.removals == [
                .file(StoredFile(stage: .downloaded, pack: two)),
                .file(StoredFile(stage: .partial, pack: one)),
            ])

        let removed = try Plan([StoredPack(id: id, loaded: one, isBeingRemoved: true)], [], trigger)
        #expect(removed.cells.isEmpty)
        #expect(removed.removals == [.pack(id)])
        #expect(try Plan([StoredPack(id: id, hasFailed: true)], [], trigger).isEmpty)
    }

    /// Packs that were not named are not known, even where some are.
    @Test(arguments: [false, true]) func notNamed(_ isOffered: Bool) throws {
        let named = try pack("named")
        let offered = isOffered ? [named, two] : [named]
        let trigger = PlanTrigger.app(.only([named.id]))
        for stored in [
            StoredPack(id: id, loaded: one), StoredPack(id: id, waiting: one),
            StoredPack(id: id, downloaded: one), StoredPack(id: id, partial: one),
            StoredPack(id: id, loaded: two, waiting: one, downloaded: one, partial: one, hasFailed: true),
        ] {
            let plan = try Plan([stored], offered, trigger)
            #expect(plan.cells == ["F/new"])
            #expect(plan.downloaded == ["named"])
            #expect(plan.removals.isEmpty)
        }
        let removed = try Plan([StoredPack(id: id, waiting: one, isBeingRemoved: true)], offered, trigger)
        #expect(removed.downloaded == ["named"])
        #expect(removed.removals == [.pack(id)])
    }

    @Test func namedAndNoLongerListed() throws {
        let plan = try Plan([StoredPack(id: id, waiting: two, partial: one)], [], .app(.only([id])))
        #expect(plan.cells == ["open"])
        #expect(plan.transfers.map(\.priority) == [.foreground])
        #expect(plan.removals == [.file(StoredFile(stage: .partial, pack: one))])
        #expect(try Plan([], [], .app(.only([id]))).isEmpty)
    }

    /// Of several entries for one pack the first counts.
    @Test(arguments: triggers) func duplicateEntries(_ trigger: PlanTrigger) throws {
        let stored = [
            StoredPack(id: id, loaded: two), StoredPack(id: id, waiting: one, isBeingRemoved: true),
        ]
        let kept = try Plan(stored, [two, one, two], trigger)
        #expect(kept.cells == ["keep"])
        #expect(kept.removals.isEmpty)
        #expect(try Plan(stored, [], trigger).cells == ["keep"])
        #expect(try Plan([], [two, one], trigger).downloads.map(\.pack) == [two])
    }

    /// Slots and offers of the newest metadata go with a file that came earlier.
    @Test func olderMetadata() throws {
        let retagged = try pack("gone", version: 2, tags: ["winter"])
        for stored in [
            StoredPack(id: id, waiting: retagged), StoredPack(id: id, downloaded: retagged),
        ] {
            #expect(try Plan([stored], [two], .app(.automatic)).transfers.map(\.pack) == [two])
        }
        let begun = try Plan([StoredPack(id: id, partial: retagged)], [two], .app(.automatic))
        #expect(begun.downloads.map(\.pack) == [two])
        #expect(begun.downloads.map(\.reason) == [.adoptedPartial])
    }

    /// What none of the given keys opens is downloaded in advance only where somebody asks for it, essential or not.
    @Test func lockedPacks() throws {
        let offered = [
            try pack("essential", .essential), try pack("later"), try pack("asked", .onDemand),
            try pack("open"),
        ]
        let locked = Dictionary(
            uniqueKeysWithValues: offered.dropLast().map { ($0.id, VaultError.awaitingKey($0.id)) })
        func plan(_ trigger: PlanTrigger, _ stored: [StoredPack] = [], preloading: Bool = false) throws
            -> Plan
        {
            var policy = PlanningPolicy()
            policy.preloadsLockedPacks = preloading
            return Plan(
                PlanInput(
                    stored: stored, offered: offered, trigger: trigger, policy: policy, missingKeys: locked,
                    sources: [try site()]))
        }
        let unasked = try plan(.app(.automatic))
        #expect(unasked.downloaded == ["open"])
        #expect(unasked.locked.map(\.id.description) == ["essential", "later"])
        #expect(try plan(.app(.automatic), preloading: true).downloaded == ["essential", "later", "open"])
        #expect(try plan(.app(.all)).downloaded == ["essential", "later", "open", "asked"])
        #expect(try plan(.app(.only([offered[1].id]))).downloaded == ["later"])
        let waiting = try plan(.app(.automatic), [StoredPack(id: offered[1].id, waiting: offered[1])])
        #expect(waiting.transferred == ["later"] && waiting.locked.map(\.id) == [offered[0].id])
        let older = try pack("later", version: 1)
        let updated = try plan(.app(.automatic), [StoredPack(id: older.id, loaded: older)])
        #expect(updated.locked.map(\.id) == [offered[0].id, older.id] && updated.keptNames == [])
    }
}

extension Plan {
    fileprivate var isEmpty: Bool { cells.isEmpty && removals.isEmpty && refusals.isEmpty }
}
