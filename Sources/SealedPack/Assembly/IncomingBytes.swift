import Synchronization
public import VaultErrors

/// Bytes from a sender, read one chunk at a time by one task and consumed by another.
public final class IncomingBytes: Sendable {
    public typealias Chunk = @Sendable () async throws(VaultError) -> [UInt8]?

    private let chunk: Chunk
    private let read = Mutex<Result<[UInt8]?, VaultError>?>(nil)

    /// - Parameter chunk: returns the next bytes, nil at the end; never called concurrently.
    public init(_ chunk: @escaping Chunk) { self.chunk = chunk }

    /// Reads a chunk. Calls must not overlap, and ``take()`` must follow each.
    func readMore() async {
        let result = await outcome(of: chunk)
        read.withLock { $0 = result }
    }

    /// The chunk that was read last; nil if it was already taken.
    func take() -> Result<[UInt8]?, VaultError>? {
        read.withLock { read in
            defer { read = nil }
            return read
        }
    }

    func next() async throws(VaultError) -> [UInt8]? {
        await readMore()
        return try take()?.get()
    }
}
