import SealedPack
import Testing
import VaultFileSystem

@testable import AssetVault
@testable import VaultBase

/// What work that runs learns of its priority.
@Suite(.timeLimit(.minutes(1))) struct WorkQueueTests {
    /// Urgent work takes all processors, all other leaves one to the app; also when the priority changes while it runs.
    @Test func priorityLimitsTheProcessors() async throws {
        let queue = WorkQueue(width: 1)
        let batch = queue.makeBatch()
        let id = try PackID("pack")
        _ = batch.add(id, needing: .noNetwork)
        let item = try #require(await batch.next())
        let widths = try await batch.run(item, id) { () throws(VaultError) in
            [LoadingPriority.standard, .urgent, 0.9, .urgent, .whenIdle, 0.5].map { priority in
                batch.priority = priority
                return Parallelism.limit?.width ?? .max
            }
        }
        let shared = max(1, ProcessEnvironment.processorCount - 1)
        #expect(widths == [shared, .max, shared, .max, shared, shared])
    }
}
