import Foundation
import Sampling
import Synchronization

/// Whether a process is gone, or only waits for its parent to notice.
func hasEnded(_ process: pid_t) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    return status?.contains(") Z ") ?? true
}

/// Blocks a server's thread until the test opens it.
final class Gate: Sendable {
    private let state = Mutex((hasArrived: false, isOpen: false))

    /// For the server: waits until the gate is opened.
    func pass() {
        state.withLock { $0.hasArrived = true }
        while !state.withLock({ $0.isOpen }) { Thread.sleep(forTimeInterval: 0.005) }
    }

    /// For the test: runs `body` when a thread is blocked, and opens the gate then.
    func whileBlocked(_ body: () async throws -> Void = {}) async throws {
        defer { open() }
        try await wait(for: "the server") { state.withLock { $0.hasArrived } }
        try await body()
    }

    func open() { state.withLock { $0.isOpen = true } }
}

/// Hands out consecutive numbers.
final class Counter: Sendable {
    private let last = Mutex(0)

    /// How many were given out.
    var count: Int { last.withLock { $0 } }

    func next() -> Int {
        last.withLock {
            $0 += 1
            return $0
        }
    }
}
