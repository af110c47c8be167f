import AsyncHTTPClient
import NIOCore
import VaultBase
import VaultTransport

/// An arriving body, part by part as the connection gives it; fails when it arrives too slowly.
struct HTTPBodyChunks: ChunkSource {
    private var buffers: HTTPClientResponse.Body.AsyncIterator
    private let meter: ThroughputMeter
    /// The waiting time that is not measured yet.
    private var wait: Duration
    /// Keeps the transport alive: its connections close when it is released.
    private let transport: HTTPTransport
    private let place: String

    /// - Parameter wait: how long the head of the response took.
    init(
        _ body: HTTPClientResponse.Body, through transport: HTTPTransport, meter: ThroughputMeter,
        after wait: Duration, place: String
    ) {
        buffers = body.makeAsyncIterator()
        self.meter = meter
        self.wait = wait
        self.transport = transport
        self.place = place
    }

    mutating func next() async throws(VaultError) -> [UInt8]? {
        while true {
            let start = ContinuousClock.now
            let buffer: ByteBuffer?
            do {
                buffer = try await buffers.next(isolation: #isolation)
            } catch {
                throw VaultError(transport: error, at: place)
            }
            guard let buffer else { return nil }
            wait += .now - start
            guard meter.record(buffer.readableBytes, after: wait, limits: transport.limits) else {
                throw VaultError(
                    .unavailable,
                    "the host sends less than \(transport.limits.bytesPerSecond) bytes per second",
                    at: place,
                    remedy: "try again later or use another mirror")
            }
            wait = .zero
            if buffer.readableBytes > 0 { return Array(buffer.readableBytesView) }
        }
    }
}
