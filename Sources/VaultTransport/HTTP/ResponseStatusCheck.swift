import NIOCore
import NIOHTTP1

/// Ends a connection whose host answers with a status below 100, which RFC 9110, section 15, does not have. AsyncHTTPClient
/// (1.37) takes such a head for an informational one without a body, and stops the program when a body follows.
final class ResponseStatusCheck: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// The host sent this as its status.
    struct InvalidStatus: Error {
        let code: UInt
    }

    /// Adds the check to a connection that is ready for its first request.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit {
            let handlers = channel.pipeline.syncOperations
            let decoder = try handlers.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try handlers.addHandler(ResponseStatusCheck(), position: .after(decoder))
        }
    }

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
            isRefused = true
            context.fireErrorCaught(InvalidStatus(code: head.status.code))
            context.close(promise: nil)
        }
        if !isRefused { context.fireChannelRead(data) }
    }
}
