import SealedPack
import Testing

@testable import AssetVault

@Suite struct PlanTableTests {
    @Test(arguments: PlanTable.cases) func onePack(_ row: PlanTable.Case) throws {
        let offered = try row.offered
        let stored = try row.storedPack.map { [$0] } ?? []
        let plan = try Plan(stored, [offered], try row.planningOccasion)
        #expect(plan.cells == (row.expected == "-" ? [] : [row.expected]))
        #expect(plan.removals == (try row.expectedRemovals))
        #expect(plan.refusals.isEmpty)
        #expect(
            plan.downloads.allSatisfy { $0.pack == offered && $0.isEssential == row.expected.hasPrefix("E") })
        #expect(plan.transfers.allSatisfy { $0.pack == offered })
        #expect(plan.refreshed.allSatisfy { $0 == offered })
    }

    /// A plan that was carried out leaves nothing to do, whoever asked.
    @Test(arguments: PlanTable.cases) func anExecutedPlanLeavesNothingToDo(_ row: PlanTable.Case) throws {
        let offered = try row.offered
        let stored = try row.storedPack ?? StoredPack(id: offered.id)
        let trigger = try row.planningOccasion
        let first = try Plan([stored], [offered], trigger)
        let next = try Plan([first.carriedOut(on: stored)], [offered], trigger)
        #expect(next.cells == (first.cells.isEmpty ? [] : ["keep"]))
        #expect(next.removals.isEmpty)
    }

    @Test func theTableIsComplete() {
        let keys = Set(PlanTable.cases.map { "\($0.policy) \($0.stored) \($0.trigger)" })
        #expect(keys.count == PlanTable.cases.count)
        #expect(keys.count == 3 * 22 * 6)
    }
}

extension Plan {
    /// The state of a store's only pack when all steps are done.
    func carriedOut(on stored: StoredPack) -> StoredPack {
        var result = stored
        for removal in removals {
            switch removal {
            case .pack: result = StoredPack(id: stored.id)
            case .file(let file):
                switch file.stage {
                case .ready: result.ready = nil
                case .waiting: result.waiting = nil
                case .downloaded: result.downloaded = nil
                case .partial: result.partial = nil
                }
            }
        }
        if let whole = downloads.first?.pack ?? transfers.first?.pack {
            if downloads.first?.reason == .adoptedPartial { result.partial = nil }
            switch transfers.first?.stage {
            case .ready: result.ready = nil
            case .waiting: result.waiting = nil
            case .downloaded: result.downloaded = nil
            case .partial, nil: break
            }
            result.loaded = whole
            result.hasFailed = false
        }
        if let refreshed = refreshed.first {
            result.loaded = refreshed
            result.hasFailed = false
        }
        return result
    }
}
