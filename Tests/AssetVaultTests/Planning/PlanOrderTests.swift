import SealedPack
import Testing

@testable import AssetVault

@Suite struct PlanOrderTests {
    /// Every class, each once as something begun, offered in no useful order; `h` failed, `z` failed as well.
    private func plan(_ trigger: PlanTrigger) throws -> Plan {
        let offered = [
            try pack("a", .onDemand), try pack("b"), try pack("c", .essential), try pack("d", .onDemand),
            try pack("e", .essential), try pack("f"), try pack("g", .onDemand), try pack("h", .essential),
            try pack("z"), try pack("y", .essential),
        ]
        let stored = [
            StoredPack(id: try PackID("z"), hasFailed: true),
            StoredPack(id: try PackID("y"), partial: offered[9], hasFailed: true),
            StoredPack(id: try PackID("h"), hasFailed: true),
            StoredPack(id: try PackID("g"), partial: offered[6]),
            StoredPack(id: try PackID("f"), partial: offered[5]),
            StoredPack(id: try PackID("e"), partial: offered[4]),
            StoredPack(id: try PackID("a"), loaded: try pack("a", version: 1, .onDemand)),
        ]
        return try Plan(stored, offered, trigger)
    }

    @Test(arguments: [.install, .update] as [ContentRequest])
    func beforeTheFirstUse(_ request: ContentRequest) throws {
        let plan = try plan(.downloader(request))
        #expect(plan.downloaded == ["e", "c", "y", "h", "f", "b", "z", "g", "a"])
        #expect(plan.downloads.filter(\.isEssential).map(\.pack.id.description) == ["e", "c"])
    }

    @Test(arguments: [.downloader(.periodic), .app(.automatic)] as [PlanTrigger])
    func later(_ trigger: PlanTrigger) throws {
        let plan = try plan(trigger)
        #expect(plan.downloaded == ["e", "y", "c", "h", "f", "b", "z", "g", "a"])
        #expect(plan.downloads.filter(\.isEssential).isEmpty)
    }

    @Test func all() throws {
        let plan = try plan(.app(.all))
        #expect(plan.downloaded == ["e", "y", "c", "h", "f", "b", "z", "g", "a", "d"])
        #expect(plan.downloads.filter(\.isEssential).isEmpty)
    }

    /// Named packs are all in the foreground; no other pack is touched.
    @Test func named() throws {
        let plan = try plan(
            .app(.only([try PackID("d"), try PackID("c"), try PackID("f"), try PackID("e")])))
        #expect(plan.downloaded == ["e", "f", "c", "d"])
        #expect(plan.downloads.allSatisfy { $0.priority == .foreground && !$0.isEssential })
        #expect(plan.transfers.isEmpty && plan.removals.isEmpty && plan.kept.isEmpty)
    }

    @Test func transfersInTheSameOrder() throws {
        let offered = [
            try pack("a", .onDemand), try pack("b"), try pack("c", .essential), try pack("d"),
        ]
        let gone = try pack("gone", .essential)
        let stored = [
            StoredPack(id: gone.id, waiting: gone),
            StoredPack(id: offered[3].id, downloaded: offered[3]),
            StoredPack(id: offered[2].id, downloaded: offered[2]),
            StoredPack(id: offered[1].id, waiting: offered[1]),
            StoredPack(id: offered[0].id, waiting: offered[0]),
        ]
        let plan = try Plan(stored, offered, .app(.automatic))
        #expect(plan.transferred == ["c", "gone", "b", "d", "a"])
        #expect(plan.transfers.map(\.stage) == [.downloaded, .waiting, .waiting, .downloaded, .waiting])
        #expect(plan.downloads.isEmpty)
    }
}
