import Foundation
import Synchronization
import Testing

/// Blocks a server's thread until the test opens it.
final class Gate: Sendable {
    private let state = Mutex((hasArrived: false, isOpen: false))

    /// For the server: waits until the gate is opened.
    func pass() {
        state.withLock { $0.hasArrived = true }
        while !state.withLock({ $0.isOpen }) { Thread.sleep(forTimeInterval: 0.005) }
    }

    /// For the test: waits until a thread is blocked.
    func arrival() async throws {
        while !state.withLock({ $0.hasArrived }) { try await Task.sleep(for: .milliseconds(5)) }
    }

    func open() { state.withLock { $0.isOpen = true } }
}
