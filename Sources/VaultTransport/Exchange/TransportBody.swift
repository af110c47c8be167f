import Synchronization
public import VaultErrors

/// The body of a response as it arrives, in chunks that are never empty.
///
/// It can be read once. At most two chunks are read ahead, so a slow reader slows the sender; a body that is released
/// ends its transfer. The sequence ends normally only when the body is complete: one shorter or longer than the host
/// declared, or longer than the request's limit, ends with an error. Only without a declared ``length`` can a truncated
/// body go unnoticed.
public struct TransportBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = VaultError

    /// The length in bytes, if the host declared it.
    public let length: UInt64?
    /// The entity tag of the file at this host, if the host sent a strong one.
    public let entityTag: EntityTag?

    private var chunks: SingleUse
    private let limit: UInt64
    private let place: String

    /// - Throws: `.corrupt` when the declared length is over the request's limit.
    init(
        for request: TransportRequest, length: UInt64?, entityTag: EntityTag?,
        chunks: @escaping @Sendable () -> any ChunkSource
    ) throws(VaultError) {
        place = request.location.description
        limit = request.limit
        if let length, length > limit { throw Self.tooLong(limit: limit, place: place) }
        self.length = length
        self.entityTag = entityTag
        self.chunks = SingleUse(chunks)
    }

    /// The same body; `observe` is called with the length of each chunk before it is passed on, and ends the body by an error.
    func observed(by observe: @escaping @Sendable (Int) throws(VaultError) -> Void) -> TransportBody {
        var body = self
        body.chunks = SingleUse { [chunks, place] in
            ObservedChunks(source: chunks.use() ?? AlreadyRead(place: place), observe: observe)
        }
        return body
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(
            source: chunks.use() ?? AlreadyRead(place: place), length: length, limit: limit, place: place)
    }

    /// Compares the received length with the declared one.
    public struct Iterator: AsyncIteratorProtocol {
        private var source: (any ChunkSource)?
        private let length: UInt64?
        private let limit: UInt64
        private let place: String
        private var received: UInt64 = 0

        fileprivate init(source: any ChunkSource, length: UInt64?, limit: UInt64, place: String) {
            (self.source, self.length, self.limit, self.place) = (source, length, limit, place)
        }

        public mutating func next() async throws(VaultError) -> [UInt8]? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(VaultError) -> [UInt8]?
        {
            guard let chunk = try await source?.next() else {
                source = nil
                guard let length, received < length else { return nil }
                throw VaultError(
                    .unavailable, "the body ended after \(received) of \(length) bytes", at: place,
                    remedy: "try again")
            }
            received += UInt64(chunk.count)
            guard received <= length ?? limit else {
                source = nil
                throw TransportBody.tooLong(limit: length ?? limit, place: place)
            }
            return chunk
        }
    }

    private static func tooLong(limit: UInt64, place: String) -> VaultError {
        VaultError(
            .corrupt, "more bytes than declared (\(limit))", at: place,
            remedy: "try another mirror or report this to the publisher")
    }
}

/// The source of a body's bytes; nil at the end.
protocol ChunkSource {
    mutating func next() async throws(VaultError) -> [UInt8]?
}

private struct ObservedChunks: ChunkSource {
    var source: any ChunkSource
    let observe: @Sendable (Int) throws(VaultError) -> Void

    mutating func next() async throws(VaultError) -> [UInt8]? {
        guard let chunk = try await source.next() else { return nil }
        try observe(chunk.count)
        return chunk
    }
}

/// The source for a second reading: it always throws.
private struct AlreadyRead: ChunkSource {
    let place: String

    mutating func next() async throws(VaultError) -> [UInt8]? {
        throw VaultError(.usage, "this response was already read", at: place, remedy: "repeat the request")
    }
}

/// Returns its content once.
private final class SingleUse: Sendable {
    private let content: Mutex<(@Sendable () -> any ChunkSource)?>

    init(_ content: @escaping @Sendable () -> any ChunkSource) { self.content = Mutex(content) }

    func use() -> (any ChunkSource)? {
        content.withLock { content in
            defer { content = nil }
            return content
        }?()
    }
}
