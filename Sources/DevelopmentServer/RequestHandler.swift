import NIOCore
import NIOHTTP1
import VaultErrors

/// Responds to the requests of one connection in order.
///
/// A file is sent in chunks, each read after the previous one was sent: a slow client costs the memory of one chunk.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let site: StaticSite
    private let network: SimulatedNetwork
    private var request: HTTPRequestHead?

    init(site: StaticSite, network: SimulatedNetwork) { (self.site, self.network) = (site, network) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): request = head
        case .body: break
        case .end:
            guard let request else { return }
            self.request = nil
            let latency = TimeAmount(network.conditions.latency)
            guard latency > .zero else { return respond(to: request, context) }
            context.eventLoop.assumeIsolated().scheduleTask(in: latency) {
                self.respond(to: request, context)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func respond(to request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let fails = network.failsNext()
        if fails { network.onFault("status 503 for \(request.uri)") }
        let response = fails ? Response.unavailable : Response(to: request, from: site)
        var head = HTTPResponseHead(
            version: request.version, status: response.status, headers: response.headers)
        head.headers.add(name: "Connection", value: request.isKeepAlive ? "keep-alive" : "close")
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        switch response.body {
        case .text(let text) where request.method != .HEAD:
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
            finish(request, context)
        case .file(let file, let part) where request.method != .HEAD:
            let sent = network.sentLength(of: UInt64(part.count))
            if let sent { network.onFault("ended after \(sent) of \(part.count) bytes of \(request.uri)") }
            if file.isTruncated { network.onFault("without its last bytes \(request.uri)") }
            let end = sent.map { part.lowerBound + $0 }
            send(
                part.lowerBound..<(end ?? part.upperBound), of: file, for: request, isCut: sent != nil,
                context)
        default:
            finish(request, context)
        }
    }

    /// - Parameter isCut: whether the connection ends behind these bytes, which are not all.
    private func send(
        _ part: Range<UInt64>, of file: StaticFile, for request: HTTPRequestHead, isCut: Bool,
        _ context: ChannelHandlerContext
    ) {
        guard !part.isEmpty else {
            return isCut ? context.close(promise: nil) : finish(request, context)
        }
        let count = min(network.chunkLength, part.upperBound - part.lowerBound)
        guard let chunk = try? file.read(upTo: Int(count), at: part.lowerBound), !chunk.isEmpty else {
            // The length is already sent; only closing the connection shows the error.
            return context.close(promise: nil)
        }
        let rest = part.lowerBound + UInt64(chunk.count)..<part.upperBound
        let delay = network.delay(ofSending: chunk.count)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: chunk)))))
            .assumeIsolated()
            .whenComplete { result in
                guard case .success = result else { return context.close(promise: nil) }
                // A write may complete at once: this avoids recursion and lets other connections proceed.
                context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
                    self.send(rest, of: file, for: request, isCut: isCut, context)
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
