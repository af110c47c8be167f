import Foundation
import Synchronization
import Testing

/// Where a server's thread stands still until the test lets it go on.
final class Gate: Sendable {
    private let state = Mutex((hasArrived: false, isOpen: false))

    /// For the server: waits until the gate is open.
    func pass() {
        state.withLock { $0.hasArrived = true }
        while !state.withLock({ $0.isOpen }) { Thread.sleep(forTimeInterval: 0.005) }
    }

    /// For the test: waits until somebody stands there.
    func arrival() async throws {
        while !state.withLock({ $0.hasArrived }) { try await Task.sleep(for: .milliseconds(5)) }
    }

    func open() { state.withLock { $0.isOpen = true } }
}
