import SealedPack
import Testing
import VaultBase

@testable import AssetVault

/// Updates that wait for a slow reader.
struct UnreadUpdatesTests {
    private let one: PackID
    private let two: PackID
    private var unread = UnreadUpdates()

    init() throws {
        one = try PackID("one")
        two = try PackID("two")
    }

    private mutating func rest() -> [StatusUpdate] {
        var found: [StatusUpdate] = []
        while let update = unread.next() { found.append(update) }
        return found
    }

    @Test mutating func eachPackKeepsItsOrder() {
        let updates: [StatusUpdate] = [
            .began(one), .began(two), .transferring(two), .progress(one, written: 1, bytes: 1, total: 2),
            .finished(two, .loaded), .failed(one, .cancelled("one")),
        ]
        for update in updates { unread.add(update) }
        let read = rest()
        for id in [one, two] { #expect(read.filter { $0.id == id } == updates.filter { $0.id == id }) }
        #expect(read.count == updates.count)
        #expect(read.prefix(2) == [.began(one), .began(two)], "packs take turns")
    }

    @Test mutating func onlyTheLatestProgressIsKept() {
        unread.add(.began(one))
        for bytes in 1...1000 as ClosedRange<UInt64> {
            unread.add(.progress(one, written: 1, bytes: bytes, total: 1000))
        }
        #expect(rest() == [.began(one), .progress(one, written: 1000, bytes: 1000, total: 1000)])
    }

    /// A late reader gets the last outcome and the current work.
    @Test mutating func supersededOutcomesAreDropped() {
        for _ in 1...1000 {
            unread.add(.began(one))
            unread.add(.failed(one, .cancelled("one")))
        }
        unread.add(.began(one))
        unread.add(.finished(one, .loaded))
        unread.add(.verifying(one, bytes: 0, total: 1))
        #expect(rest() == [.began(one), .finished(one, .loaded), .verifying(one, bytes: 0, total: 1)])
        #expect(rest() == [])
    }
}
