import AsyncHTTPClient
import NIOCore
import VaultErrors

/// A body while it arrives, ended when it arrives too slowly.
struct HTTPChunks: ChunkSource {
    private var buffers: HTTPClientResponse.Body.AsyncIterator
    private var floor: ThroughputFloor
    /// Held, since its connections close when it goes away.
    private let transport: HTTPTransport
    private let place: String

    init(_ body: HTTPClientResponse.Body, through transport: HTTPTransport, place: String) {
        buffers = body.makeAsyncIterator()
        floor = ThroughputFloor(transport.limits)
        self.transport = transport
        self.place = place
    }

    mutating func next() async throws(VaultError) -> [UInt8]? {
        while true {
            let asked = ContinuousClock.now
            let buffer: ByteBuffer?
            do {
                buffer = try await buffers.next(isolation: #isolation)
            } catch {
                throw VaultError(transport: error, at: place)
            }
            guard let buffer else { return nil }
            guard floor.allows(buffer.readableBytes, after: .now - asked) else {
                throw VaultError(
                    .unavailable,
                    "the host sends less than \(transport.limits.bytesPerSecond) bytes a second",
                    at: place,
                    remedy: "try again later or use another mirror")
            }
            if buffer.readableBytes > 0 { return Array(buffer.readableBytesView) }
        }
    }
}
