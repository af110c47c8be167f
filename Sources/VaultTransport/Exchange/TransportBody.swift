import Synchronization
public import VaultErrors

/// The bytes of an answer as they arrive, in chunks that are never empty.
///
/// They can be read once. No more is read ahead than a chunk or two, so a slow reader slows the sender; a
/// body that is let go ends its transfer. The end of the sequence means that all is there: a body that is
/// shorter or longer than the host declared, or longer than the request's limit, ends with an error. Only
/// where the host declared no ``length`` may a body be cut short unseen.
public struct TransportBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = VaultError

    /// How many bytes will come, where the host declared it.
    public let length: UInt64?
    /// What identifies the file's content at this host, if the host gave a strong tag.
    public let entityTag: EntityTag?

    private let chunks: SingleUse
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

    public func makeAsyncIterator() -> Iterator {
        Iterator(
            source: chunks.take() ?? AlreadyRead(place: place), length: length, limit: limit, place: place)
    }

    /// Counts what arrives and holds it against what was declared.
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
            remedy: "try another mirror or tell the publisher")
    }
}

/// Where a body's bytes come from; nil is the end.
protocol ChunkSource {
    mutating func next() async throws(VaultError) -> [UInt8]?
}

/// Stands in for the bytes when somebody reads them a second time.
private struct AlreadyRead: ChunkSource {
    let place: String

    mutating func next() async throws(VaultError) -> [UInt8]? {
        throw VaultError(.usage, "this answer was read already", at: place, remedy: "ask again")
    }
}

/// Hands its content out once.
private final class SingleUse: Sendable {
    private let content: Mutex<(@Sendable () -> any ChunkSource)?>

    init(_ content: @escaping @Sendable () -> any ChunkSource) { self.content = Mutex(content) }

    func take() -> (any ChunkSource)? {
        content.withLock { content in
            defer { content = nil }
            return content
        }?()
    }
}
