import VaultErrors
import VaultTransport

/// A response's body, for a task that reads while another one processes the bytes.
actor BodyReader {
    /// Nil while somebody reads, and after that for nobody else.
    private var body: TransportBody.Iterator?

    init(_ body: TransportBody) { self.body = body.makeAsyncIterator() }

    func next() async throws(VaultError) -> [UInt8]? {
        guard var reading = body.take() else { return nil }
        defer { body = reading }
        return try await reading.next(isolation: self)
    }
}
