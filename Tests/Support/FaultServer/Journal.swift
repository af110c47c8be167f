import Synchronization

/// Requests and answers of a server, in the order of the requests.
final class Journal: Sendable {
    private let state = Mutex(State())

    struct State {
        var exchanges: [FaultServer.Exchange] = []
        var asked: [String: Int] = [:]
        /// Pieces of answers that the system may have taken, and that are not counted yet.
        var sending = 0
        var sent = 0
        var closed = 0
    }

    var now: State { state.withLock { $0 } }

    /// Records a request; returns it and its number.
    func note(head: String, base: String) -> (FaultServer.Request, Int) {
        state.withLock { state in
            let path = FaultServer.Request.path(of: head)
            let request = FaultServer.Request(head: head, earlier: state.asked[path, default: 0], base: base)
            state.asked[path, default: 0] += 1
            state.exchanges.append(FaultServer.Exchange(request))
            return (request, state.exchanges.count - 1)
        }
    }

    /// Records that the system is given a piece of an answer.
    func noteSending() { state.withLock { $0.sending += 1 } }

    /// Records what became of it.
    ///
    /// - Parameter bytes: nil for what the system did not take.
    func note(sent bytes: [UInt8]?, for number: Int) {
        state.withLock { state in
            state.sending -= 1
            guard let bytes else { return }
            state.sent += bytes.count
            state.exchanges[number].note(sent: bytes)
        }
    }

    func noteClosed() { state.withLock { $0.closed += 1 } }
}
