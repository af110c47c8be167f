import Sampling
import Testing

@testable import AssetVault

/// Which packs are worked on, by priorities that change.
struct WorkScheduleTests {
    private func id(_ number: Int) throws -> PackID { try PackID("pack-\(number)") }

    /// Starts all that may start; returns the packs that run, without those that must stop.
    private func running(_ schedule: inout WorkSchedule) -> Set<String> {
        for (number, item) in schedule.items where item.isActive && schedule.isStopped(number) {
            if schedule.ending(of: number) != nil {
                schedule.end(number)
            } else {
                schedule.deactivate(number)
            }
        }
        for batch in schedule.batches.keys.sorted() {
            while let item = schedule.start(in: batch) {
                if schedule.ending(of: item) != nil { schedule.end(item) }
            }
        }
        return Set(schedule.items.values.filter(\.isActive).map(\.id.description))
    }

    @Test func theFirstOnesRun() throws {
        var schedule = WorkSchedule(width: 2)
        let batch = schedule.addBatch(.standard)
        let items = try (0..<4).map { schedule.add(try id($0), to: batch) }
        #expect(running(&schedule) == ["pack-0", "pack-1"])
        schedule.end(items[0])
        #expect(running(&schedule) == ["pack-1", "pack-2"])
        schedule.pause(try id(1))
        #expect(running(&schedule) == ["pack-2", "pack-3"])
        schedule.resume(try id(1))
        #expect(running(&schedule) == ["pack-2", "pack-3"])
        for item in items { schedule.end(item) }
        #expect(schedule.isDone(batch))
    }

    @Test func higherPrioritiesOvertake() throws {
        var schedule = WorkSchedule(width: 2)
        let low = schedule.addBatch(0.2)
        for number in 0..<3 { _ = schedule.add(try id(number), to: low) }
        #expect(running(&schedule) == ["pack-0", "pack-1"])
        let high = schedule.addBatch(0.7)
        let item = schedule.add(try id(9), to: high)
        #expect(running(&schedule) == ["pack-0", "pack-9"])
        schedule.change(low) { $0.priority = 0.9 }
        #expect(running(&schedule) == ["pack-0", "pack-1"])
        schedule.change(high) { $0.priority = .urgent }
        #expect(running(&schedule) == ["pack-9"])
        schedule.end(item)
        #expect(running(&schedule) == ["pack-0", "pack-1"])
    }

    /// Prefetch packs wait until no essential one can be worked on; what somebody asked for does not, nor what needs no network.
    @Test func essentialPacksComeFirst() throws {
        var schedule = WorkSchedule(width: 4)
        let batch = schedule.addBatch(.standard)
        let essential = schedule.add(try id(0), to: batch, .essential)
        for number in 1...2 { _ = schedule.add(try id(number), to: batch, .afterEssentials) }
        _ = schedule.add(try id(3), to: batch, needing: .noNetwork, .afterEssentials)
        _ = schedule.add(try id(4), to: batch)
        #expect(running(&schedule) == ["pack-0", "pack-3", "pack-4"])
        // A request wants one of them at once.
        let request = schedule.addBatch(.standard)
        let requested = schedule.add(try id(1), to: request)
        #expect(running(&schedule) == ["pack-0", "pack-1", "pack-3", "pack-4"])
        schedule.end(requested)
        #expect(running(&schedule) == ["pack-0", "pack-3", "pack-4"])
        schedule.pause(try id(0))
        #expect(running(&schedule) == ["pack-1", "pack-2", "pack-3", "pack-4"])
        schedule.resume(try id(0))
        #expect(running(&schedule) == ["pack-0", "pack-3", "pack-4"])
        schedule.end(essential)
        #expect(running(&schedule) == ["pack-1", "pack-2", "pack-3", "pack-4"])
    }

    /// Neither batch waits for the other for ever, whatever their priorities.
    @Test func essentialPacksOfALessUrgentBatch() throws {
        var schedule = WorkSchedule(width: 2)
        let idle = schedule.addBatch(.whenIdle)
        let essential = schedule.add(try id(0), to: idle, .essential)
        let urgent = schedule.addBatch(.urgent)
        _ = schedule.add(try id(1), to: urgent, .afterEssentials)
        #expect(running(&schedule) == ["pack-0"])
        schedule.end(essential)
        #expect(running(&schedule) == ["pack-1"])
    }

    /// What nobody asked for comes only while nothing else can.
    @Test func idleWorkComesLast() throws {
        var schedule = WorkSchedule(width: 4)
        let idle = schedule.addBatch(.whenIdle)
        for number in 0..<2 { _ = schedule.add(try id(number), to: idle) }
        #expect(running(&schedule) == ["pack-0", "pack-1"])
        let request = schedule.addBatch(0.0)
        let item = schedule.add(try id(9), to: request)
        #expect(running(&schedule) == ["pack-9"])
        schedule.change(request) { $0.isPaused = true }
        #expect(running(&schedule) == ["pack-0", "pack-1"])
        schedule.change(request) { $0.isPaused = false }
        // A pack that is requested, too, is not idle work.
        _ = schedule.add(try id(1), to: request)
        #expect(running(&schedule) == ["pack-9", "pack-1"])
        schedule.end(item)
        #expect(running(&schedule) == ["pack-1"])
    }

    /// What the network does not admit ends at once, also while it runs.
    @Test func theNetworkChanges() throws {
        var schedule = WorkSchedule(width: 4)
        let batch = schedule.addBatch(.standard)
        let opening = schedule.add(try id(0), to: batch, needing: .noNetwork)
        let requested = schedule.add(try id(1), to: batch, needing: .anyNetwork)
        let prefetched = schedule.add(try id(2), to: batch, needing: .unmeteredNetwork)
        #expect(running(&schedule) == ["pack-0", "pack-1", "pack-2"])
        schedule.use(.metered)
        #expect(schedule.ending(of: prefetched) == .deferred && schedule.ending(of: requested) == nil)
        #expect(running(&schedule) == ["pack-0", "pack-1"])
        schedule.use(.none)
        #expect(schedule.ending(of: requested) == .noNetwork && schedule.ending(of: opening) == nil)
        _ = schedule.add(try id(3), to: batch, needing: .anyNetwork)
        #expect(running(&schedule) == ["pack-0"])
        #expect(schedule.items.count == 1)
    }

    /// Whoever wants a pack most decides when; pausing one caller pauses no other.
    @Test func severalWantOnePack() throws {
        var schedule = WorkSchedule(width: 1)
        let low = schedule.addBatch(0.1)
        let middle = schedule.addBatch(0.5)
        let high = schedule.addBatch(0.9)
        let first = schedule.add(try id(0), to: low)
        _ = schedule.add(try id(1), to: middle)
        let second = schedule.add(try id(0), to: high)
        #expect(running(&schedule) == ["pack-0"])
        schedule.change(low) { $0.isPaused = true }
        #expect(running(&schedule) == ["pack-0"])
        #expect(schedule.items[second]?.isActive == true && schedule.items[first]?.isActive == false)
        schedule.change(high) { $0.isPaused = true }
        #expect(running(&schedule) == ["pack-1"])
        schedule.cancel { $0.batch == middle }
        #expect(running(&schedule) == [])
        schedule.change(low) { $0.isPaused = false }
        #expect(running(&schedule) == ["pack-0"])
        schedule.removeBatch(low)
        #expect(running(&schedule) == [])
    }

    /// What is added to a batch that was cancelled is not worked on, until that begins again.
    @Test func aCancelledBatchStaysCancelled() throws {
        var schedule = WorkSchedule(width: 4)
        let (batch, other) = (schedule.addBatch(.standard), schedule.addBatch(.standard))
        schedule.cancel(batch)
        _ = schedule.add(try id(0), to: batch)
        _ = schedule.add(try id(1), to: other)
        #expect(running(&schedule) == ["pack-1"])
        #expect(schedule.isDone(batch))
        schedule.change(batch) { $0.isCancelled = false }
        _ = schedule.add(try id(0), to: batch)
        #expect(running(&schedule) == ["pack-0", "pack-1"])
    }

    /// Of one priority nobody waits for all that another one wants.
    @Test(arguments: [1, 4]) func equalPrioritiesAlternate(width: Int) throws {
        var schedule = WorkSchedule(width: width)
        let big = schedule.addBatch(.standard)
        for number in 0..<300 { _ = schedule.add(try id(number), to: big) }
        // Others have come and gone meanwhile.
        for _ in 0..<50 { endOne(&schedule, width) }
        let small = schedule.addBatch(.standard)
        let item = schedule.add(try id(1000), to: small)
        var turns = 0
        while schedule.items[item]?.isActive == false, turns < 300 {
            endOne(&schedule, width)
            turns += 1
        }
        #expect(turns <= width + 1)
    }

    /// Two of one priority have about the same done, and each in its own order.
    @Test func equalPrioritiesShare() throws {
        var schedule = WorkSchedule(width: 1)
        let batches = [schedule.addBatch(.standard), schedule.addBatch(.standard)]
        for (place, batch) in batches.enumerated() {
            for number in 0..<5 { _ = schedule.add(try id(place * 100 + number), to: batch) }
        }
        let order = (0..<10).map { _ in endOne(&schedule, 1) }
        #expect(order == (0..<5).flatMap { ["pack-\($0)", "pack-\(100 + $0)"] })
    }

    /// One that comes late, or to another priority, begins where the others are: it has no turns to catch up.
    @Test func nobodyCatchesUp() throws {
        var schedule = WorkSchedule(width: 1)
        let (early, late, changed) = (0, 1000, 2000)
        let first = schedule.addBatch(.standard)
        for number in 0..<100 { _ = schedule.add(try id(early + number), to: first) }
        for _ in 0..<50 { endOne(&schedule, 1) }
        let second = schedule.addBatch(.standard)
        for number in 0..<100 { _ = schedule.add(try id(late + number), to: second) }
        #expect(try shares(&schedule, 20) == [10, 10, 0])
        let third = schedule.addBatch(0.1)
        for number in 0..<100 { _ = schedule.add(try id(changed + number), to: third) }
        #expect(try shares(&schedule, 20) == [10, 10, 0])
        schedule.change(third) { $0.priority = .standard }
        #expect(try shares(&schedule, 21) == [7, 7, 7])
        schedule.change(third) { $0.isPaused = true }
        #expect(try shares(&schedule, 20) == [10, 10, 0])
        schedule.change(third) { $0.isPaused = false }
        #expect(try shares(&schedule, 21) == [7, 7, 7])
    }

    /// How many packs of each batch are done in so many turns.
    private func shares(_ schedule: inout WorkSchedule, _ turns: Int) throws -> [Int] {
        var shares = [0, 0, 0]
        for _ in 0..<turns {
            let done = try #require(endOne(&schedule, 1)?.dropFirst("pack-".count))
            shares[try #require(Int(done)) / 1000] += 1
        }
        return shares
    }

    /// Starts what may start, and ends the oldest that runs. Returns its pack.
    @discardableResult
    private func endOne(_ schedule: inout WorkSchedule, _ width: Int) -> String? {
        #expect(running(&schedule).count == min(width, schedule.items.count))
        guard let oldest = schedule.items.filter({ $0.value.isActive }).min(by: { $0.key < $1.key }) else {
            return nil
        }
        schedule.end(oldest.key)
        return oldest.value.id.description
    }

    @Test(arguments: [(-1.0, 0.0), (0.3, 0.3), (7, 1), (.nan, 0.5), (.infinity, 1)])
    func prioritiesAreLimited(given: Double, expected: Double) {
        #expect(LoadingPriority(given).value == expected)
        #expect(LoadingPriority(given) < .urgent)
    }

    /// Random changes: each state is compared with what the rules say.
    @Test func randomChanges() throws {
        var random = SeededGenerator(for: "WorkScheduleTests.randomChanges")
        for _ in 0..<200 {
            let width = Int.random(in: 1...4, using: &random)
            var schedule = WorkSchedule(width: width)
            let batches = (0..<4).map { _ in schedule.addBatch(.standard) }
            for _ in 0..<60 {
                let batch = try #require(batches.randomElement(using: &random))
                let pack = try id(Int.random(in: 0..<8, using: &random))
                switch Int.random(in: 0..<8, using: &random) {
                case 0, 1, 2: _ = schedule.add(pack, to: batch)
                case 3: if let item = schedule.items.keys.sorted().first { schedule.end(item) }
                case 4: schedule.pause(pack)
                case 5: schedule.resume(pack)
                case 6:
                    let value = Double.random(in: -0.2...1.2, using: &random)
                    schedule.change(batch) {
                        $0.priority = value > 1 ? .urgent : value < 0 ? .whenIdle : LoadingPriority(value)
                    }
                default: schedule.change(batch) { $0.isPaused.toggle() }
                }
                try expectRules(&schedule, width: width)
            }
        }
    }

    /// What follows from beginnings and ends is what a look at all items finds.
    @Test func beginningsAndEnds() throws {
        var random = SeededGenerator(for: "WorkScheduleTests.beginningsAndEnds")
        let precedences: [DownloadPrecedence] = [.essential, .afterEssentials, .independent]
        for _ in 0..<200 {
            let width = Int.random(in: 1...4, using: &random)
            var schedule = WorkSchedule(width: width)
            for priority in [LoadingPriority.standard, .standard, 0.7, .whenIdle] {
                let batch = schedule.addBatch(priority)
                for _ in 0..<Int.random(in: 0..<12, using: &random) {
                    let pack = try id(Int.random(in: 0..<20, using: &random))
                    let precedence = try #require(precedences.randomElement(using: &random))
                    _ = schedule.add(pack, to: batch, precedence)
                }
            }
            while !schedule.items.isEmpty {
                _ = running(&schedule)
                let active = schedule.items.filter(\.value.isActive).keys
                var all = WorkCandidates(in: schedule, upTo: width)
                #expect(Set(active) == all.first())
                schedule.end(try #require(active.sorted().randomElement(using: &random)))
            }
        }
    }

    private func expectRules(_ schedule: inout WorkSchedule, width: Int) throws {
        let running = running(&schedule)
        var wanted: [String: LoadingPriority] = [:]
        for item in schedule.items.values {
            let batch = try #require(schedule.batches[item.batch])
            guard !batch.isPaused, !schedule.paused.contains(item.id) else { continue }
            wanted[item.id.description] = max(wanted[item.id.description] ?? .whenIdle, batch.priority)
        }
        let isUrgent = wanted.values.contains(where: \.isUrgent)
        let isIdle = wanted.values.allSatisfy { $0 == .whenIdle }
        let able = wanted.filter { isUrgent ? $0.value.isUrgent : isIdle || $0.value != .whenIdle }
        #expect(running.count == min(width, able.count))
        #expect(running.isSubset(of: able.keys))
        let least = running.compactMap { able[$0] }.min()
        for (id, priority) in able where !running.contains(id) {
            #expect(least.map { $0 >= priority } ?? false)
        }
    }
}
