import FaultServer
import Synchronization
import Testing
import VaultBase
import VaultHTTP

@testable import VaultTransport

/// Hosts that send a file again and again never keep a reader for long.
@Suite(.timeLimit(.minutes(2))) struct TransferBudgetTests {
    @Test func requestsAreLimited() throws {
        var budget = TransferBudget(of: "a", length: 1_000, parts: 1)
        for _ in 0..<66 { try budget.takeRequest() }
        #expect(throws: VaultError.self) { try budget.takeRequest() }
        budget = TransferBudget(of: "a", length: 1_000)
        try budget.take(1 << 20 + 2_000)
        try budget.takeRequest()
        #expect(throws: VaultError.self) { try budget.take(1) }
        #expect(throws: VaultError.self) { try budget.takeRequest() }
    }

    /// An unpinned site may claim any length.
    @Test func anyLengthHasABudget() throws {
        var budget = TransferBudget(of: "a", length: .max)
        try budget.takeRequest()
        try budget.take(.max)
        try budget.take(.max)
    }

    /// A host that begins at the start each time, and ends a little later each time.
    @Test func repeatedBytesAreLimited() async throws {
        let (length, step) = (1_500_000, 100_000)
        let asked = Mutex(0)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nConnection: close\r\n\r\n"
        let server = try FaultServer { _ in
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            return [.send(head + String(repeating: "x", count: min(length, step * number))), .close]
        }
        let file = RemoteFile(
            try server.location(), of: "a", length: UInt64(length), transport: HTTPTransport(), remedy: "none"
        )
        var taken = 0
        let error = await failure {
            try await file.read(0..<UInt64(length)) { (bytes, _) in taken += bytes.count }
        }
        #expect(error?.problem.contains("twice what it needs") == true, "\(String(describing: error))")
        #expect(taken <= 2 * length + 1 << 20)
    }
}
