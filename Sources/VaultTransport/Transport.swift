import Synchronization
public import VaultBase

/// Reads the files of a site.
///
/// A transport verifies nothing: the caller checks sizes and digests. It does not retry; see ``RetryPolicy``.
public protocol Transport: Sendable {
    /// Requests a file or a part of it; the body of the response is read while it arrives.
    ///
    /// - Throws: `.unreachable`, `.unavailable` when the host fails or sends an unusable response; `.corrupt` when
    ///   the declared length is over the request's limit; `.untrusted` for a host that is not allowed.
    func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse
}

extension VaultError {
    /// The error for ``TransportResponse/busy(status:retryAfter:)`` where the caller doesn't wait.
    public static func busyHost(_ location: SiteLocation, status: Int, retryAfter: Duration?) -> VaultError {
        let time = retryAfter.map { "in \($0.components.seconds) seconds" } ?? "later"
        return VaultError(
            .unavailable, "the host is busy (status \(status))", at: location.description,
            remedy: "try again \(time)")
    }
}

extension Transport {
    /// A whole small file, such as metadata; nil when it does not exist. A host that fails is asked again.
    ///
    /// - Parameters:
    ///   - meter: shared by all requests of one transfer.
    ///   - retries: when a failing host is asked again; nil for never.
    /// - Throws: `.corrupt` when it has more than `limit` bytes, and what ``get(_:)`` throws.
    public func bytes(
        at location: SiteLocation, limit: Int, meter: ThroughputMeter = ThroughputMeter(),
        retries: RetryPolicy? = nil
    ) async throws(VaultError) -> [UInt8]? {
        var failures = HostFailures(meter)
        while true {
            do throws(TransferFailure) {
                return try await bytesOnce(at: location, limit: limit, meter: meter)
            } catch {
                failures.noteFailure()
                // Without a connection the caller gets its error at once.
                guard let retries, error.error.category != .unreachable else { throw error.error }
                try await retries.wait(after: error, failures, at: location)
            }
        }
    }

    private func bytesOnce(
        at location: SiteLocation, limit: Int, meter: ThroughputMeter
    ) async throws(TransferFailure) -> [UInt8]? {
        var request = TransportRequest(location, limit: UInt64(clamping: limit))
        request.meter = meter
        let failure: TransferFailure
        do throws(VaultError) {
            switch try await get(request) {
            case .whole(let body):
                var bytes: [UInt8] = []
                for try await chunk in body { bytes += chunk }
                return bytes
            case .absent: return nil
            case .busy(let status, let wait):
                failure = TransferFailure(
                    .busyHost(location, status: status, retryAfter: wait), retryAfter: wait)
            case .part, .outOfRange:
                throw VaultError(
                    .unavailable, "the host sent a part instead of the whole file", at: location.description,
                    remedy: "configure the host to send static files unchanged")
            }
        } catch {
            failure = TransferFailure(error)
        }
        throw failure
    }
}

/// A site's response. Every other response is an error.
public enum TransportResponse: Sendable {
    /// The whole file (200), also where a part was requested and the host does not support ranges.
    case whole(TransportBody)
    /// Exactly the requested part, up to the end of the file (206).
    case part(ContentRange, TransportBody)
    /// No such file: 404, 410, or 403, which object stores send for a missing object.
    case absent
    /// The part begins after the end of the file (416); `total` is the file's size if the host sent it.
    case outOfRange(total: UInt64?)
    /// The host is busy (503), or limits this client (429); `retryAfter` is the wait that it requested, if any.
    case busy(status: Int = 503, retryAfter: Duration?)
}

/// A request for a file, or a part of it.
public struct TransportRequest: Sendable {
    public var location: SiteLocation
    /// The requested part; nil requests the whole file.
    public var range: ByteRange?
    /// The maximum length of the body in bytes; where the host ignores `range`, that is the whole file's.
    public var limit: UInt64
    /// The only hosts that may be contacted, by redirects too; nil for all that the transport allows.
    public var allowedHosts: AllowedHosts?
    /// Shared by all requests of one transfer to a host; by default each response is measured by itself.
    public var meter = ThroughputMeter()

    /// Called with the size of a discarded body, such as that of a redirect, before it is received: an estimate where the host does not
    /// give it. An error from it ends the request.
    public var willDiscard: @Sendable (UInt64) throws(VaultError) -> Void = { _ throws(VaultError) in }

    public init(_ location: SiteLocation, range: ByteRange? = nil, limit: UInt64) {
        self.location = location
        self.range = range
        self.limit = limit
    }
}

/// Timeouts and limits: every wait ends, so that a hostile host can't block a client.
public struct TransportLimits: Sendable {
    /// To establish a connection, TLS included.
    public var connect: Duration = .seconds(10)
    /// From a request to the complete head of its response; each redirect restarts it.
    public var response: Duration = .seconds(30)
    /// Between two arrivals of bytes. A reader that pauses longer loses the connection too.
    public var idle: Duration = .seconds(30)
    /// The minimum average rate, in bytes per second of waiting, once `grace` is over.
    public var bytesPerSecond: Int = 1024
    /// The waiting time over which the rate is averaged.
    public var window: Duration = .seconds(60)
    /// The waiting time at the start of a transfer that is not measured.
    public var grace: Duration = .seconds(30)
    /// The maximum number of redirects per request.
    public var redirects: Int = 5
    /// The maximum number of connections per host; further requests wait up to `connect` for one of them.
    public var connectionsPerHost: Int = 32

    public init() {}
}

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

    private var chunks: SingleUse
    private let limit: UInt64
    private let place: String

    /// - Throws: `.corrupt` when the declared length is over the request's limit.
    package init(
        for request: TransportRequest, length: UInt64?, chunks: @escaping @Sendable () -> any ChunkSource
    ) throws(VaultError) {
        place = request.location.description
        limit = request.limit
        if let length, length > limit { throw Self.tooLong(limit: limit, place: place) }
        self.length = length
        self.chunks = SingleUse(chunks)
    }

    /// The body of a transport on another network library.
    ///
    /// - Parameters:
    ///   - chunks: The bytes as they arrive. Its errors end the body: a `VaultError` as it is, others as `.unavailable`.
    ///   - length: In bytes; nil if the host did not declare it.
    /// - Throws: `.corrupt` when the declared length is over the request's limit.
    public init<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, for request: TransportRequest, length: UInt64?
    ) throws(VaultError) where Chunks.Element == [UInt8] {
        let place = request.location.description
        try self.init(for: request, length: length) {
            AdoptedChunks(source: chunks.makeAsyncIterator(), place: place)
        }
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

/// A response's body, for a task that reads while another one processes the bytes.
package actor BodyReader {
    /// Nil while a task reads, so that only one reads at a time.
    private var body: TransportBody.Iterator?

    package init(_ body: TransportBody) { self.body = body.makeAsyncIterator() }

    package func next() async throws(VaultError) -> [UInt8]? {
        guard var reading = body.take() else { return nil }
        defer { body = reading }
        return try await reading.next(isolation: self)
    }
}

/// The source of a body's bytes; nil at the end.
package protocol ChunkSource {
    mutating func next() async throws(VaultError) -> [UInt8]?
}

/// Non-empty chunks of an `AsyncSequence` of the caller.
private struct AdoptedChunks<Source: AsyncIteratorProtocol>: ChunkSource where Source.Element == [UInt8] {
    var source: Source
    let place: String

    mutating func next() async throws(VaultError) -> [UInt8]? {
        do {
            while let chunk = try await source.next(isolation: #isolation) {
                if !chunk.isEmpty { return chunk }
            }
            return nil
        } catch let error as VaultError {
            throw error
        } catch is CancellationError {
            throw VaultError.cancelled(place)
        } catch {
            throw VaultError(
                .unavailable, "the transfer failed (\(String(describing: error).prefix(200)))", at: place,
                remedy: "try again")
        }
    }
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
