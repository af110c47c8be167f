import FaultServer
import Sampling
import SealedPack
import Synchronization
import Testing

@testable import AssetVault

/// What has begun, in order.
private final class Finished: Sendable {
    private let list = Mutex<[Int]>([])
    var positions: [Int] { list.withLock { $0 } }
    func add(_ position: Int) { list.withLock { $0.append(position) } }
}

/// The order of requests, and what an app changes while they run.
@Suite(.timeLimit(.minutes(5))) struct RequestOrderTests {
    let world: World
    let client: VaultClient
    let requests: [ResourceRequest]

    /// Requests for the levels 1 to 4 of a host that is asked for one pack at a time.
    init() async throws {
        world = try await World.withLevels()
        world.hold()
        let client = try world.client { $0.packsAtOnce = 1 }
        self.client = client
        requests = (1...4).map { ResourceRequest(tags: ["level\($0)"], of: client) }
    }

    /// Begins requests by their positions, and returns these in the order in which their access began. `body` is called when all wait,
    /// and the first bytes came; then the host goes on.
    private func order(
        of positions: [Int], _ body: @Sendable @escaping () async throws -> Void = {}
    ) async throws -> [Int] {
        try await client.refresh()
        let finished = Finished()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for position in positions {
                group.addTask {
                    do { try await requests[position].beginAccessing() } catch { return }
                    finished.add(position)
                }
            }
            group.addTask {
                // Also after a failure all must end.
                defer { world.release() }
                try await wait(for: "the first bytes") {
                    positions.allSatisfy { !requests[$0].progress.packs.isEmpty }
                        && positions.contains { requests[$0].progress.bytes > 0 }
                }
                try await body()
            }
            try await group.waitForAll()
        }
        return finished.positions
    }

    @Test func higherPrioritiesFinishFirst() async throws {
        for (position, priority) in [0.1, 0.9, 0.3, 0.7].enumerated() {
            requests[position].loadingPriority = LoadingPriority(priority)
        }
        #expect(try await order(of: [0, 1, 2, 3]) == [1, 3, 2, 0])
    }

    @Test func prioritiesChangeWhileTheyRun() async throws {
        requests[0].loadingPriority = 0.9
        requests[3].loadingPriority = 0.1
        let order = try await order(of: [0, 1, 3]) {
            requests[3].loadingPriority = .urgent
            try await wait(for: "its first bytes") { requests[3].progress.bytes > 0 }
        }
        #expect(order.first == 3, "\(order)")
        for position in [0, 1, 3] { #expect(!requests[position].packIDs.isEmpty) }
    }

    /// What another request needs as well goes on.
    @Test func pausing() async throws {
        let other = ResourceRequest(tags: ["level2"], of: client)
        let order = try await order(of: [0, 1]) {
            requests[0].pause()
            requests[1].pause()
            world.release()
            try? await other.beginAccessing()
            #expect(!other.packIDs.isEmpty)
            #expect(requests[0].packIDs.isEmpty)
            requests[1].resume()
            try await wait(for: "its access") { !requests[1].packIDs.isEmpty }
            requests[0].resume()
        }
        #expect(order == [1, 0])
    }

    /// What came before is not downloaded again.
    @Test func cancelling() async throws {
        let order = try await order(of: [1, 3]) { requests[1].cancel() }
        #expect(order == [3])
        try await requests[1].beginAccessing()
        #expect(try await requests[1].contents(of: EntryPath("levels/2/map")) == World.map(2))
        let sent = world.server.exchanges.filter(\.request.isForPack).reduce(0) { $0 + $1.bodyBytes }
        #expect(sent < 1_200_000, "\(sent)")
    }

    /// A request that ends while it waits begins nothing.
    @Test func endingWhileItWaits() async throws {
        let order = try await order(of: [0, 1]) { requests[1].endAccessing() }
        #expect(order == [0])
        #expect(requests[1].packIDs.isEmpty)
        #expect(try AccessNotes(layout: world.layout).current().count == 1)
    }
}
