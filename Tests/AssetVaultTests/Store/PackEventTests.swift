import SealedPack
import Testing
import VaultBase
import VaultCrypto

@testable import AssetVault

/// What each event makes of each state of a pack.
///
/// A state has four places: the versions that arrive, wait, are ready, and are live, and `!` for a failure. Events are about version 2 by
/// listing 2; the record was decided on by listing 1. `no` is an event that is refused.
@Suite struct PackEventTests {
    @Test func eachEventInEachState() throws {
        var lines = [Self.line("state", Self.events.map(\.name))]
        for state in Self.states {
            let record = try Self.record(state)
            lines.append(
                Self.line(
                    state, try Self.events.map { try record.after($0.event()).map(Self.text) ?? "no" }))
        }
        let found = lines.joined(separator: "\n")
        #expect(found == Self.table, "\(found)")
    }

    private static func line(_ state: String, _ cells: [String]) -> String {
        let padded = cells.map { $0 + String(repeating: " ", count: max(0, 7 - $0.count)) }.joined()
        return String((state + " | " + padded).reversed().drop { $0 == " " }.reversed())
    }

    /// An older listing than the one that decided, or a removal by the app, keeps a process from changing what it lists.
    @Test func refusals() throws {
        for state in Self.states {
            var record = try Self.record(state)
            record.listing = ListingVersion(root: 1, snapshot: 3)
            for event in try Self.listed() { #expect(record.after(event) == nil) }
            record.listing = ListingVersion(root: 1, snapshot: 2)
            record.isRemoved = true
            for event in try Self.listed() { #expect(record.after(event) == nil) }
        }
    }

    /// An event that comes twice, as after a process died, changes nothing more.
    @Test func repetition() throws {
        for state in Self.states {
            let record = try Self.record(state)
            for (name, event) in Self.events {
                guard let once = record.after(try event()) else { continue }
                let twice = once.after(try event()) ?? once
                #expect(twice == once, "\(name) in \(state)")
            }
        }
    }

    /// No event changes what the app decided, but those by which it decides.
    @Test func decisionsOfTheApp() throws {
        for state in Self.states {
            var record = try Self.record(state)
            (record.isKept, record.chosenForm) = (true, .sealed)
            for (name, event) in Self.events where name != "remove" && name != "gone" {
                guard let next = record.after(try event()) else { continue }
                #expect(next.isKept && next.chosenForm == .sealed && !next.isRemoved, "\(name) in \(state)")
            }
        }
    }

    @Test func reasonsOfRemoval() throws {
        var record = try Self.record("---1")
        func end(_ reason: PackRemovalReason) throws -> PackRecord {
            try #require(record.after(.removalBegan(reason))?.after(.removalEnded))
        }
        #expect(try end(.asked).isRemoved)
        #expect(try end(.purged).isRemoved)
        #expect(try !end(.unlisted).isRemoved)
        record.isReplacedVariant = true
        #expect(try end(.asked).isRemoved)
        #expect(try !end(.purged).isRemoved)
        #expect(try end(.asked).listing == record.listing)
    }

    /// A version that replaces another one has its own fingerprint, or none.
    @Test func fingerprints() throws {
        let (one, two) = (SHA256.hash([1].span), SHA256.hash([2].span))
        var record = try Self.record("---1")
        record.fingerprint = one
        func live(_ version: Int64, _ fingerprint: SHA256Digest?) throws -> SHA256Digest? {
            let version = PackRecord.Loaded(pack: try pack("a", version: version), form: .opened)
            return record.after(
                .activated(version, fingerprint: fingerprint, listedBy: Self.second))?.fingerprint
        }
        #expect(try live(1, nil) == one)
        #expect(try live(1, two) == two)
        #expect(try live(2, nil) == nil)
        #expect(try live(2, two) == two)
    }

    /// Without its record a version that waits is not known to be newer than the live one.
    @Test func lostRecords() throws {
        let record = try Self.record("-1--")
        var files = PackFiles(isRecordLost: true, isWaiting: true)
        #expect(record.after(.found(files))?.waiting?.version == 1)
        files.live = PackRecord.Loaded(pack: try pack("a", version: 2), form: .opened)
        let followed = try #require(record.after(.found(files)))
        #expect(followed.waiting == nil && followed.loaded?.pack.version == 2)
    }
}

extension PackEventTests {
    private static let second = ListingVersion(root: 1, snapshot: 2)

    private static let states: [String] = ["-", "2"].flatMap { arriving in
        ["-", "1", "2"].flatMap { waiting in
            ["-", "2"].flatMap { ready in
                ["-", "1", "2"].map { arriving + waiting + ready + $0 }
            }
        }
    }

    private static let events: [(name: String, event: @Sendable () throws -> PackEvent)] = [
        ("begin", { .downloadBegan(try two(), listedBy: second) }),
        ("share", { .shared(try two(), listedBy: second) }),
        ("return", { .returned(try two(), listedBy: second) }),
        ("decide", { .decided(try two(), listedBy: second) }),
        ("ready", { .becameReady(PackRecord.Ready(version: try live("2")), listedBy: second) }),
        ("live", { .activated(try live("2"), fingerprint: nil, listedBy: second) }),
        ("unlist", { .withdrawn(by: second) }),
        ("unneed", { .neededNoDownload }),
        ("fail", { .failed(PackFailure(VaultError(.io, "it failed", at: "a", remedy: "try again"))) }),
        ("remove", { .removalBegan(.asked) }),
        ("gone", { .removalEnded }),
        // What is on the disk: nothing; all that is named, with version 1 live; the arrived version; version 2 live.
        ("none", { .found(PackFiles()) }),
        ("all", { .found(PackFiles(isWaiting: true, isReady: true, live: try live("1"))) }),
        (
            "came",
            { .found(PackFiles(hasArrived: true, isWaiting: true, isReady: true, live: try live("1"))) }
        ),
        ("two", { .found(PackFiles(isWaiting: true, isReady: true, live: try live("2"))) }),
    ]

    /// Those by which a listing decides.
    private static func listed() throws -> [PackEvent] { try events.prefix(7).map { try $0.event() } }

    private static func two() throws -> PackManifest { try pack("a", version: 2) }

    private static func live(_ version: Character) throws -> PackRecord.Loaded {
        PackRecord.Loaded(pack: try pack("a", version: try #require(Int64("\(version)"))), form: .opened)
    }

    private static func record(_ state: String) throws -> PackRecord {
        var record = PackRecord()
        let places = Array(state)
        if places[0] != "-" { (record.arriving, record.arrivingListing) = (try two(), second) }
        if places[1] != "-" { record.waiting = try live(places[1]).pack }
        if places[2] != "-" { record.ready = PackRecord.Ready(version: try live(places[2])) }
        if places[3] != "-" { record.loaded = try live(places[3]) }
        record.failure = PackFailure(VaultError(.io, "it failed", at: "a", remedy: "try again"))
        record.listing = ListingVersion(root: 1, snapshot: 1)
        return record
    }

    private static func text(_ record: PackRecord) -> String {
        let versions = [
            record.arriving, record.waiting, record.ready?.version.pack, record.loaded?.pack,
        ]
        return versions.map { $0.map { "\($0.version)" } ?? "-" }.joined()
            + (record.failure == nil ? "" : "!")
    }

    private static let table = """
        state | begin  share  return decide ready  live   unlist unneed fail   remove gone   none   all    came   two
        ---- | 2---!  -2--   2---!  ----!  --2-   ---2   ----!  ----   ----!  ----!  ----   ----!  ---1!  ---1!  ---2!
        ---1 | 2--1!  -2-1   2--1!  ---1!  --21   ---2   ---1!  ---1   no     ---1!  ----   ----!  ---1!  ---1!  ---2!
        ---2 | 2--2!  -2-2   2--2!  ---2!  --22   ---2   ---2!  ---2   no     ---2!  ----   ----!  ---1!  ---1!  ---2!
        --2- | 2-2-!  -22-   2-2-!  --2-!  --2-   ---2   ----!  --2-   --2-!  --2-!  ----   ----!  --21!  --21!  ---2!
        --21 | 2-21!  -221   2-21!  --21!  --21   ---2   ---1!  --21   no     --21!  ----   ----!  --21!  --21!  ---2!
        --22 | 2-22!  -222   2-22!  --22!  --22   ---2   ---2!  --22   no     --22!  ----   ----!  --21!  --21!  ---2!
        -1-- | 21--!  -2--   no     ----!  --2-   ---2   -1--!  -1--   -1--!  -1--!  ----   ----!  ---1   ---1   -1-2!
        -1-1 | 21-1!  -2-1   no     ---1!  --21   ---2   -1-1!  -1-1   -1-1!  -1-1!  ----   ----!  ---1   ---1   -1-2!
        -1-2 | 21-2!  -2-2   no     ---2!  --22   ---2   -1-2!  -1-2   -1-2!  -1-2!  ----   ----!  ---1   ---1   -1-2!
        -12- | 212-!  -22-   no     --2-!  --2-   ---2   -1--!  -12-   -12-!  -12-!  ----   ----!  --21   --21   -1-2!
        -121 | 2121!  -221   no     --21!  --21   ---2   -1-1!  -121   -121!  -121!  ----   ----!  --21   --21   -1-2!
        -122 | 2122!  -222   no     --22!  --22   ---2   -1-2!  -122   -122!  -122!  ----   ----!  --21   --21   -1-2!
        -2-- | 22--!  -2--   2---!  -2--!  --2-   ---2   -2--!  -2--   -2--!  -2--!  ----   ----!  -2-1!  -2-1!  ---2
        -2-1 | 22-1!  -2-1   2--1!  -2-1!  --21   ---2   -2-1!  -2-1   -2-1!  -2-1!  ----   ----!  -2-1!  -2-1!  ---2
        -2-2 | 22-2!  -2-2   2--2!  -2-2!  --22   ---2   -2-2!  -2-2   -2-2!  -2-2!  ----   ----!  -2-1!  -2-1!  ---2
        -22- | 222-!  -22-   2-2-!  -22-!  --2-   ---2   -2--!  -22-   -22-!  -22-!  ----   ----!  -221!  -221!  ---2
        -221 | 2221!  -221   2-21!  -221!  --21   ---2   -2-1!  -221   -221!  -221!  ----   ----!  -221!  -221!  ---2
        -222 | 2222!  -222   2-22!  -222!  --22   ---2   -2-2!  -222   -222!  -222!  ----   ----!  -221!  -221!  ---2
        2--- | 2---!  -2--   2---!  2---!  --2-   ---2   2---!  ----   2---!  2---!  ----   2---!  2--1!  -2-1   ---2!
        2--1 | 2--1!  -2-1   2--1!  2--1!  --21   ---2   2--1!  ---1   2--1!  2--1!  ----   2---!  2--1!  -2-1   ---2!
        2--2 | 2--2!  -2-2   2--2!  2--2!  --22   ---2   2--2!  ---2   2--2!  2--2!  ----   2---!  2--1!  -2-1   ---2!
        2-2- | 2-2-!  -22-   2-2-!  2-2-!  --2-   ---2   2---!  --2-   2-2-!  2-2-!  ----   2---!  2-21!  -221   ---2!
        2-21 | 2-21!  -221   2-21!  2-21!  --21   ---2   2--1!  --21   2-21!  2-21!  ----   2---!  2-21!  -221   ---2!
        2-22 | 2-22!  -222   2-22!  2-22!  --22   ---2   2--2!  --22   2-22!  2-22!  ----   2---!  2-21!  -221   ---2!
        21-- | 21--!  -2--   no     2---!  --2-   ---2   21--!  -1--   21--!  21--!  ----   2---!  2--1   -2-1   -1-2!
        21-1 | 21-1!  -2-1   no     2--1!  --21   ---2   21-1!  -1-1   21-1!  21-1!  ----   2---!  2--1   -2-1   -1-2!
        21-2 | 21-2!  -2-2   no     2--2!  --22   ---2   21-2!  -1-2   21-2!  21-2!  ----   2---!  2--1   -2-1   -1-2!
        212- | 212-!  -22-   no     2-2-!  --2-   ---2   21--!  -12-   212-!  212-!  ----   2---!  2-21   -221   -1-2!
        2121 | 2121!  -221   no     2-21!  --21   ---2   21-1!  -121   2121!  2121!  ----   2---!  2-21   -221   -1-2!
        2122 | 2122!  -222   no     2-22!  --22   ---2   21-2!  -122   2122!  2122!  ----   2---!  2-21   -221   -1-2!
        22-- | 22--!  -2--   2---!  22--!  --2-   ---2   22--!  -2--   22--!  22--!  ----   2---!  22-1!  -2-1   ---2
        22-1 | 22-1!  -2-1   2--1!  22-1!  --21   ---2   22-1!  -2-1   22-1!  22-1!  ----   2---!  22-1!  -2-1   ---2
        22-2 | 22-2!  -2-2   2--2!  22-2!  --22   ---2   22-2!  -2-2   22-2!  22-2!  ----   2---!  22-1!  -2-1   ---2
        222- | 222-!  -22-   2-2-!  222-!  --2-   ---2   22--!  -22-   222-!  222-!  ----   2---!  2221!  -221   ---2
        2221 | 2221!  -221   2-21!  2221!  --21   ---2   22-1!  -221   2221!  2221!  ----   2---!  2221!  -221   ---2
        2222 | 2222!  -222   2-22!  2222!  --22   ---2   22-2!  -222   2222!  2222!  ----   2---!  2221!  -221   ---2
        """
}
