import NIOCore
import NIOHTTP1
import VaultErrors

/// Answers the requests of one connection, one after the other.
///
/// A file goes out in pieces, each read when the one before has left: a slow client costs one piece of memory.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let pieceCount: UInt64 = 1 << 18

    private let site: StaticSite
    private var request: HTTPRequestHead?

    init(site: StaticSite) { self.site = site }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): request = head
        case .body: break
        case .end:
            guard let request else { return }
            self.request = nil
            respond(to: request, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func respond(to request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let answer = Answer(to: request, from: site)
        var head = HTTPResponseHead(version: request.version, status: answer.status, headers: answer.headers)
        head.headers.add(name: "Connection", value: request.isKeepAlive ? "keep-alive" : "close")
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        switch answer.body {
        case .text(let text) where request.method != .HEAD:
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
            finish(request, context)
        case .file(let file, let part) where request.method != .HEAD:
            send(part, of: file, for: request, context)
        default:
            finish(request, context)
        }
    }

    private func send(
        _ part: Range<UInt64>, of file: StaticFile, for request: HTTPRequestHead,
        _ context: ChannelHandlerContext
    ) {
        guard !part.isEmpty else { return finish(request, context) }
        let count = min(Self.pieceCount, part.upperBound - part.lowerBound)
        guard let piece = try? file.read(upTo: Int(count), at: part.lowerBound), !piece.isEmpty else {
            // The length is promised already; only a closed connection tells that there is no more.
            return context.close(promise: nil)
        }
        let rest = part.lowerBound + UInt64(piece.count)..<part.upperBound
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: piece)))))
            .assumeIsolated()
            .whenComplete { result in
                guard case .success = result else { return context.close(promise: nil) }
                // A write may be done at once; other connections get their turn, and the stack stays flat.
                context.eventLoop.assumeIsolated().execute {
                    self.send(rest, of: file, for: request, context)
                }
            }
    }

    private func finish(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if !request.isKeepAlive {
            written.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        }
    }
}
