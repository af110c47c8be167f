import Sampling
import Synchronization
import Testing

@testable import AssetVault

/// Many packs on a slow line. Only their order and bytes count, and no time.
@Suite(.timeLimit(.minutes(10))) struct ManyRequestsTests {
    private static let width = 2

    /// The packs in the order in which they were done.
    private final class Finished: Sendable {
        private let list = Mutex<[PackID]>([])
        private let plans = Mutex(0)
        var packs: [PackID] { list.withLock { $0 } }
        var plannedCount: Int { plans.withLock { $0 } }

        func note(_ update: StatusUpdate) {
            switch update {
            case .planned: plans.withLock { $0 += 1 }
            case .finished(let id, .loaded): list.withLock { $0.append(id) }
            default: break
            }
        }
    }

    /// Begins all requests, and follows what is done while `body` runs; returns when all have access.
    private func begin(
        _ requests: [ResourceRequest], of client: VaultClient,
        _ body: @Sendable @escaping (Finished) async throws -> Void
    ) async throws {
        let finished = Finished()
        let updates = client.statusUpdates
        async let noting: Void = { for await update in updates { finished.note(update) } }()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for request in requests { group.addTask { try await request.beginAccessing() } }
            group.addTask { try await body(finished) }
            try await group.waitForAll()
        }
        updates.end()
        await noting
    }

    /// 90 packs, or 300: again and again the line is held up while the priorities of all that is left are dealt anew: what runs is overtaken, and goes on
    /// when its turn comes. From one deal to the next, packs are done by priority.
    @Test func packsAreDoneByPriority() async throws {
        let many = try await ManyPacks(tags: Sampling.isWhole ? 60 : 18, packsPerTag: 5, size: 3000, large: 1)
        let client = try many.client(packsAtOnce: Self.width)
        try await client.refresh()
        let requests = many.tags.map { ResourceRequest(tags: [$0], of: client) }
        try await begin(requests, of: client) { finished in
            var random = SeededGenerator(for: "ManyRequestsTests.packsAreDoneByPriority")
            let count = many.tags.count * many.packsPerTag
            let share = count / 6
            // Until all of them wait, there is no order.
            try await wait(for: "all to wait") {
                finished.plannedCount == count && finished.packs.count >= 10
            }
            // Also after a failure all must end.
            defer { many.isHeldUp = false }
            while finished.packs.count + share < count {
                many.isHeldUp = true
                let priorities = deal(requests, &random)
                let left = priorities.filter { !finished.packs.contains($0.key) }
                let highest = left.filter { $0.value == left.values.max() }.keys
                try await wait(for: "those of the highest priority") {
                    let asked = Set(many.sentBytes().keys).union(finished.packs)
                    return asked.intersection(highest).count >= min(highest.count, Self.width)
                }
                // What was under way or interrupted may be done sooner.
                let begun = many.sentBytes()
                let before = finished.packs.count
                many.isHeldUp = false
                let end = min(before + share, count)
                try await wait(for: "\(end) packs") { finished.packs.count >= end }
                let done = finished.packs.dropFirst(before).filter { begun[$0] == nil }
                expectOrder(done.compactMap { priorities[$0] })
            }
        }
        #expect(requests.allSatisfy { $0.packIDs.count == many.packsPerTag })
    }

    /// Gives each request a priority that no other one has. Returns those of its packs.
    private func deal(_ requests: [ResourceRequest], _ random: inout SeededGenerator) -> [PackID: Double] {
        var priorities: [PackID: Double] = [:]
        let values = requests.indices.map { Double($0) / 100 }.shuffled(using: &random)
        for (request, value) in zip(requests, values) {
            request.loadingPriority = LoadingPriority(value)
            for id in request.progress.packs.keys { priorities[id] = value }
        }
        return priorities
    }

    /// Two come at once: either of them may be done first.
    private func expectOrder(_ priorities: [Double]) {
        #expect(priorities.count >= 5)
        for (place, priority) in priorities.enumerated() {
            let overtaken = priorities[(place + 1)...].count { $0 > priority }
            #expect(overtaken < Self.width, "\(priority) before \(overtaken) of \(priorities)")
        }
    }

    /// An urgent request has the line for itself, whatever was under way.
    @Test func anUrgentRequestHasTheLine() async throws {
        let many = try await ManyPacks(tags: 8, packsPerTag: 2, size: 200_000, large: 900_000)
        let client = try many.client(packsAtOnce: Self.width)
        try await client.refresh()
        let requests = many.tags.map { ResourceRequest(tags: [$0], of: client) }
        let large = try PackID("game/large")
        try await begin(requests, of: client) { finished in
            try await wait(for: "two packs") { finished.packs.count >= 2 }
            let urgent = ResourceRequest(tags: ["large"], of: client)
            urgent.loadingPriority = .urgent
            async let access: Void = urgent.beginAccessing()
            try await wait(for: "the urgent one") { many.sentBytes()[large] != nil }
            let before = many.sentBytes()
            try await access
            let after = many.sentBytes()
            let sent = after.values.reduce(0, +) - before.values.reduce(0, +)
            let urgentBytes = (after[large] ?? 0) - (before[large] ?? 0)
            #expect(urgentBytes > 800_000)
            #expect(Double(urgentBytes) / Double(sent) > 0.9, "\(urgentBytes) of \(sent)")
            #expect(finished.packs.count < 16)
        }
        #expect(requests.allSatisfy { $0.packIDs.count == 2 })
    }
}
