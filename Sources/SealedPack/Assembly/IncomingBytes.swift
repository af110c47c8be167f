import Synchronization
public import VaultErrors

/// Bytes as a host sends them, read a chunk at a time by one task and taken by another.
public final class IncomingBytes: Sendable {
    public typealias Chunk = @Sendable () async throws(VaultError) -> [UInt8]?

    private let chunk: Chunk
    private let read = Mutex<Result<[UInt8]?, VaultError>?>(nil)

    /// - Parameter chunk: some bytes more; nil at the end. Asked again only after it has answered.
    public init(_ chunk: @escaping Chunk) { self.chunk = chunk }

    /// Reads a chunk. One call at a time, each followed by ``take()``.
    func readMore() async {
        let result: Result<[UInt8]?, VaultError>
        do throws(VaultError) { result = .success(try await chunk()) } catch { result = .failure(error) }
        read.withLock { $0 = result }
    }

    /// What was read last, once; nil where that was taken.
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
