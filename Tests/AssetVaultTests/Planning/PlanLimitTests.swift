import SealedPack
import Testing

@testable import AssetVault

@Suite struct PlanLimitTests {
    static let later: [PlanTrigger] =
        [.downloader(.update), .downloader(.periodic), .app(.automatic), .app(.all)]

    /// Two essential packs of 300 and 500 bytes, two others of 300 and 500.
    private func offered() throws -> [PackManifest] {
        [
            try pack("a", .essential, bytes: 300, opened: 600),
            try pack("b", .essential, bytes: 500, opened: 1_000),
            try pack("c", bytes: 300, opened: 600), try pack("d", bytes: 500, opened: 1_000),
        ]
    }

    @Test(
        arguments: [
            (nil, nil, 100, ""), (900, 800, 100, ""), (899, 800, 100, "b"), (900, 799, 100, "d"),
            (500, 500, 0, "b d"), (599, 299, 100, "b c d"), (0, 0, 0, "a b c d"), (100, nil, 101, "a b"),
            (nil, 299, 0, "c d"), (nil, 300, 0, "d"), (399, nil, 100, "a b"), (.max, .max, .max, ""),
        ] as [(UInt64?, UInt64?, UInt64, String)])
    func allowances(_ essential: UInt64?, _ others: UInt64?, _ metadata: UInt64, _ refused: String) throws {
        let policy = PlanningPolicy(essentialDownloadAllowance: essential, downloadAllowance: others)
        let plan = try Plan([], try offered(), .downloader(.install), policy, metadataBytes: metadata)
        #expect(plan.refused.joined(separator: " ") == refused)
        #expect((plan.downloaded + plan.refused).sorted() == ["a", "b", "c", "d"])
        for trigger in Self.later {
            let plan = try Plan([], try offered(), trigger, policy, metadataBytes: metadata)
            #expect(plan.refusals.isEmpty)
            #expect(plan.downloads.count == 4)
        }
    }

    @Test func aSmallerPackComesAfterALargerOneThatMayNot() throws {
        let offered = [
            try pack("large", bytes: 900), try pack("small", bytes: 300), try pack("last", bytes: 300),
        ]
        let plan = try Plan([], offered, .downloader(.install), PlanningPolicy(downloadAllowance: 599))
        #expect(plan.downloaded == ["small"])
        #expect(plan.refused == ["large", "last"])
    }

    /// The bytes that came before a downloader was killed belong to the same initial set.
    @Test func downloadedBytesCount() throws {
        let offered = try offered()
        let policy = PlanningPolicy(essentialDownloadAllowance: 799, downloadAllowance: 799)
        for stored in [
            [
                StoredPack(id: offered[1].id, downloaded: offered[1]),
                StoredPack(id: offered[3].id, waiting: offered[3]),
            ],
            [
                StoredPack(id: offered[1].id, partial: offered[1]),
                StoredPack(id: offered[3].id, partial: offered[3]),
            ],
        ] {
            let plan = try Plan(stored, offered, .downloader(.install), policy)
            #expect(plan.refused == ["a", "c"])
        }
        let loaded = [
            StoredPack(id: offered[1].id, loaded: offered[1]),
            StoredPack(id: offered[3].id, loaded: offered[3]),
        ]
        #expect(try Plan(loaded, offered, .downloader(.install), policy).refusals.isEmpty)
    }

    /// A failed essential pack stays in its initial set: the same request allows the same packs again.
    @Test func failedEssential() throws {
        let offered = try offered()
        let failed = [StoredPack(id: offered[1].id, hasFailed: true)]
        let policy = PlanningPolicy(essentialDownloadAllowance: 800, downloadAllowance: 300)
        for stored in [[], failed] {
            let plan = try Plan(stored, offered, .downloader(.install), policy)
            #expect(plan.downloaded == ["a", "b", "c"])
            #expect(plan.refusals.map(\.reason) == [.overAllowance(300, taken: 300, isEssential: false)])
        }
        #expect(
            try Plan(failed, offered, .downloader(.install), policy).downloads.map(\.isEssential) == [
                true, false, false,
            ])
    }

    @Test(
        arguments: [
            (nil, nil, ""), (1_600, 1_600, ""), (1_599, 1_600, "b"), (1_600, 1_599, "d"),
            (599, 599, "a b c d"),
            (600, 1_000, "b d"), (0, nil, "a b"),
        ] as [(UInt64?, UInt64?, String)])
    func installedSizes(_ essential: UInt64?, _ others: UInt64?, _ refused: String) throws {
        let policy = PlanningPolicy(essentialInstalledSize: essential, installedSize: others)
        for trigger in Self.later + [.downloader(.install)] {
            let plan = try Plan([], try offered(), trigger, policy)
            #expect(plan.refused.joined(separator: " ") == refused)
            #expect((plan.downloaded + plan.refused).sorted() == ["a", "b", "c", "d"])
        }
    }

    /// A million empty files are no way past a limit: each takes a block of the disk.
    @Test(arguments: [(1_000_000, false), (10, true)]) func filesCount(_ entries: Int64, _ isAllowed: Bool)
        throws
    {
        let policy = PlanningPolicy(installedSize: 42_000)
        let plan = try Plan([], [try pack("a", opened: 1_000, entries: entries)], .app(.automatic), policy)
        #expect(plan.downloaded == (isAllowed ? ["a"] : []))
        #expect(plan.refused == (isAllowed ? [] : ["a"]))
    }

    /// Stored packs that use 700 bytes.
    @Test(arguments: ["loaded", "waiting", "unlisted", "unlisted waiting", "not named", "not named waiting"])
    func whatIsThereCounts(_ word: String) throws {
        let new = try pack("new", opened: 300)
        let old = try pack("old", opened: 700)
        let isWaiting = word.hasSuffix("waiting")
        let stored = StoredPack(id: old.id, loaded: isWaiting ? nil : old, waiting: isWaiting ? old : nil)
        let offered = word.hasPrefix("unlisted") || word.hasPrefix("not named") ? [new] : [old, new]
        let trigger = PlanTrigger.app(word.hasPrefix("not named") ? .only([new.id]) : .automatic)
        #expect(
            try Plan([stored], offered, trigger, PlanningPolicy(installedSize: 1_000)).downloaded == ["new"])
        let plan = try Plan([stored], offered, trigger, PlanningPolicy(installedSize: 999))
        #expect(plan.refusals.map(\.reason) == [.overInstalledSize(999, others: 700, isEssential: false)])
        #expect(plan.kept.count + plan.transfers.count == (word.hasPrefix("not named") ? 0 : 1))
        // They don't count if they are removed, or belong to the other limit.
        var removed = stored
        removed.isBeingRemoved = true
        #expect(
            try Plan([removed], [new], trigger, PlanningPolicy(installedSize: 300)).downloaded == ["new"])
        #expect(
            try Plan([stored], offered, trigger, PlanningPolicy(essentialInstalledSize: 0)).refusals.isEmpty)
    }

    /// A new version replaces the old one, so only the difference counts.
    @Test(arguments: [(1_000, 1_000, true), (1_000, 999, false), (600, 100, true), (601, 100, false)])
    func updates(_ opened: UInt64, _ limit: UInt64, _ isAllowed: Bool) throws {
        let old = StoredPack(id: try PackID("a"), loaded: try pack("a", version: 1, opened: 600))
        let policy = PlanningPolicy(installedSize: limit)
        let plan = try Plan([old], [try pack("a", opened: opened)], .app(.automatic), policy)
        #expect(plan.downloads.count == (isAllowed ? 1 : 0))
        #expect(plan.refusals.count == (isAllowed ? 0 : 1))
    }

    /// A waiting version replaces the loaded one; a pack that turned essential counts as such.
    @Test func replacedAndReclassed() throws {
        let old = try pack("a", version: 1, opened: 600)
        let stored = StoredPack(id: old.id, loaded: old, waiting: try pack("a", opened: 900))
        let offered = [try pack("a", .essential, opened: 900), try pack("b", .essential, opened: 100)]
        let fits = PlanningPolicy(essentialInstalledSize: 1_000, installedSize: 0)
        #expect(try Plan([stored], offered, .app(.automatic), fits).downloaded == ["b"])
        let tight = PlanningPolicy(essentialInstalledSize: 999)
        #expect(try Plan([stored], offered, .app(.automatic), tight).refused == ["b"])
    }

    /// A pack that is refused for one reason takes nothing of the other limit.
    @Test func aRefusedPackUsesNoOtherLimit() throws {
        let offered = [try pack("a", bytes: 400, opened: 5_000), try pack("b", bytes: 500, opened: 100)]
        let policy = PlanningPolicy(downloadAllowance: 500, installedSize: 1_000)
        let plan = try Plan([], offered, .downloader(.install), policy)
        #expect(plan.downloaded == ["b"])
        #expect(plan.refusals.map(\.reason) == [.overInstalledSize(1_000, others: 0, isEssential: false)])
    }

    /// Sizes whose sum overflows.
    @Test func hugeSizesDoNotOverflow() throws {
        let most: UInt64 = 1 << 53 - 1
        let offered = try (0..<5_000).map { try pack("p\($0)", bytes: most, opened: most) }
        let stored = offered.prefix(3_000).map { StoredPack(id: $0.id, loaded: $0) }
        let policy = PlanningPolicy(downloadAllowance: .max, installedSize: .max - 1)
        let plan = try Plan(Array(stored), offered, .downloader(.install), policy)
        #expect(plan.downloads.count + plan.refusals.count == 2_000)
        #expect(plan.refusals.count == 2_000)
    }
}
