import NIOCore
import NIOHTTP1

/// Ends a connection over which much more comes than what its responses hold: heads of informational responses, extensions of
/// chunks and blank lines without end (RFC 9112, section 7.1.1) would not reach any reader, but would cost the user of a metered
/// network.
///
/// It counts all bytes from the network, those of TLS included, and compares them with those of the bodies.
final class SurplusCheck: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The number of bytes that came beside those of the bodies.
    struct Surplus: Error {
        let count: UInt64
    }

    /// The bytes that may be received beside the bodies: some for the connection, of which a TLS record that is not complete yet is
    /// up to 16 KiB; for the head of each response; and for each body a part of it, for its chunks or TLS records.
    static let bytesOfConnection: UInt64 = 32 << 10
    static let bytesOfResponse: UInt64 = 8 << 10
    static let bodyPart: UInt64 = 8

    private let responses: DecodedResponses
    private var received: UInt64 = 0
    private var isRefused = false

    init(besides responses: DecodedResponses) { self.responses = responses }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        received += UInt64(unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
    }

    /// All that was read before is decoded now.
    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        let surplus = received - min(received, responses.bodyBytes)
        guard !isRefused, surplus > responses.allowedSurplus else { return }
        isRefused = true
        context.fireErrorCaught(Surplus(count: surplus))
        context.close(promise: nil)
    }
}

/// Counts what the decoder of a connection finds.
final class DecodedResponses: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private(set) var bodyBytes: UInt64 = 0
    private var heads: UInt64 = 0

    /// Includes the head of the response that comes now.
    var allowedSurplus: UInt64 {
        SurplusCheck.bytesOfConnection + (heads + 1) * SurplusCheck.bytesOfResponse
            + bodyBytes / SurplusCheck.bodyPart
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): if head.status.code >= 200 { heads += 1 }
        case .body(let bytes): bodyBytes += UInt64(bytes.readableBytes)
        case .end: break
        }
        context.fireChannelRead(data)
    }
}
