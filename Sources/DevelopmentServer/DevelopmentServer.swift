import NIOCore
import NIOHTTP1
import NIOPosix
public import SystemPackage
public import VaultBase
import VaultFileSystem

/// Serves a site's folder over HTTP/1.1 on 127.0.0.1 only, for development and tests.
///
/// It responds as nginx does for static files: strong entity tags, conditional requests, single ranges. It differs in
/// three points: links, hidden names and folders don't exist (404); paths are not normalized, so `..` and `//` are 404;
/// and several ranges in one request get the whole file, which RFC 9110 (section 14.2) allows.
public struct DevelopmentServer: Sendable {
    private let root: FilePath
    private let port: UInt16
    private let conditions: NetworkConditions
    private let onFault: @Sendable (_ fault: String) -> Void

    /// - Parameters:
    ///   - root: The site's folder, possibly reached through a link.
    ///   - port: The port on 127.0.0.1; 0 lets the system choose a free one.
    ///   - conditions: a bad network to try.
    ///   - onFault: called for each response that these conditions break, and when the network goes offline.
    public init(
        root: FilePath, port: UInt16 = 0, conditions: NetworkConditions = NetworkConditions(),
        onFault: @escaping @Sendable (_ fault: String) -> Void = { _ in }
    ) {
        (self.root, self.port, self.conditions, self.onFault) = (root, port, conditions, onFault)
    }

    /// Serves until the task is cancelled, then closes every connection, in use or not. The same happens when its network goes
    /// offline: from then on it refuses connections, and waits to be cancelled.
    ///
    /// - Parameter whenReady: Called once with the URL, when the server accepts requests.
    /// - Throws: `.missing` when there is no such folder, `.busy` when the port is in use, `.io` when listening fails
    ///   otherwise.
    public func run(whenReady: (_ url: String) -> Void) async throws(VaultError) {
        let site = StaticSite(try Folder(opening: root), conditions)
        let network = SimulatedNetwork(conditions, onFault: onFault)
        // One thread: a connection accepted by one thread for another one that has ended is never closed.
        let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let channel = try await listen(on: threads, to: site, through: network)
            let url = "http://127.0.0.1:\(channel.localAddress?.port ?? Int(port))/"
            try await goOffline(channel)
            await withTaskCancellationHandler {
                whenReady(url)
                try? await channel.closeFuture.get()
            } onCancel: {
                channel.close(promise: nil)
            }
        } catch {
            try? await threads.shutdownGracefully()
            throw cannotListen(error)
        }
        // Closes all connections.
        try? await threads.shutdownGracefully()
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    }

    /// Closes the listening socket when it is time.
    private func goOffline(_ channel: any Channel) async throws {
        guard let time = conditions.offlineAfter else { return }
        guard time > .zero else {
            onFault("offline")
            return try await channel.close()
        }
        let onFault = onFault
        channel.eventLoop.scheduleTask(in: TimeAmount(time)) {
            onFault("offline")
            channel.close(promise: nil)
        }
    }

    private func listen(
        on threads: MultiThreadedEventLoopGroup, to site: StaticSite, through network: SimulatedNetwork
    ) async throws -> any Channel {
        try await ServerBootstrap(group: threads)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        RequestHandler(site: site, network: network))
                }
            }
            .bind(host: "127.0.0.1", port: Int(port)).get()
    }

    private func cannotListen(_ error: any Error) -> VaultError {
        let reason = (error as? IOError).map { Errno(rawValue: $0.errnoCode) }
        return VaultError(
            reason == .addressInUse ? .busy : .io,
            "can't listen (\(reason.map(\.description) ?? String(describing: error)))",
            at: "127.0.0.1:\(port)", remedy: "choose another port, or 0 for any that is free")
    }
}

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
