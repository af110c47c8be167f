import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Testing
import VaultTransport

/// What a bad server does on a connection, step by step, after it has read the head of a request.
enum Step: Sendable {
    case send(String)
    case bytes([UInt8])
    /// Sends the same again and again, as fast as the client takes it.
    case endlessly([UInt8])
    /// Sends the same again and again, with a pause after each time.
    case trickle(String, TimeAmount)
    case close
    /// Ends the connection with a TCP reset.
    case reset
    /// Does nothing more, and leaves the connection open.
    case hang
}

/// A server of one test: what it was asked and how far it came.
final class FaultServer: Sendable {
    let base: String
    private let state = Mutex((requests: [String](), sent: 0, closed: 0))

    init(base: String) { self.base = base }

    /// The heads of all requests so far.
    var requests: [String] { state.withLock { $0.requests } }
    /// Bytes that the system took.
    var sent: Int { state.withLock { $0.sent } }
    /// Connections that are over.
    var closed: Int { state.withLock { $0.closed } }

    func location(_ path: String = "file") throws -> SiteLocation { try SiteLocation(base).appending(path) }

    fileprivate func note(request: String) { state.withLock { $0.requests.append(request) } }
    fileprivate func note(sent count: Int) { state.withLock { $0.sent += count } }
    fileprivate func noteClosed() { state.withLock { $0.closed += 1 } }
}

/// Runs a server that answers every request with what `script` says for its head.
func withFaultServer<R>(
    secure: Bool = false, _ script: @escaping @Sendable (_ head: String, _ base: String) -> [Step],
    _ body: (FaultServer) async throws -> R
) async throws -> R {
    let box = Mutex<FaultServer?>(nil)
    let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let tls = try secure ? NIOSSLContext(configuration: TestCertificate.serverConfiguration()) : nil
    let channel = try await ServerBootstrap(group: threads)
        .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                guard let server = box.withLock({ $0 }) else { return }
                if let tls {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                }
                try channel.pipeline.syncOperations.addHandler(FaultHandler(server: server, script: script))
            }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(channel.localAddress?.port)
    let server = FaultServer(base: "\(secure ? "https" : "http")://localhost:\(port)")
    box.withLock { $0 = server }
    do {
        let result = try await body(server)
        try await threads.shutdownGracefully()
        return result
    } catch {
        try await threads.shutdownGracefully()
        throw error
    }
}

/// The same answer to everything.
func withFaultServer<R>(
    secure: Bool = false, always steps: [Step], body: (FaultServer) async throws -> R
) async throws -> R {
    try await withFaultServer(secure: secure, { _, _ in steps }, body)
}

func withFaultServer<R>(_ steps: Step..., body: (FaultServer) async throws -> R) async throws -> R {
    try await withFaultServer(always: steps, body: body)
}

private final class FaultHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: FaultServer
    private let script: @Sendable (String, String) -> [Step]
    private var received = ""

    init(server: FaultServer, script: @escaping @Sendable (String, String) -> [Step]) {
        (self.server, self.script) = (server, script)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        while let end = received.firstRange(of: "\r\n\r\n") {
            let head = String(received[..<end.lowerBound])
            received = String(received[end.upperBound...])
            server.note(request: head)
            run(script(head, server.base)[...], context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { server.noteClosed() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func run(_ steps: ArraySlice<Step>, _ context: ChannelHandlerContext) {
        guard let step = steps.first else { return }
        let rest = steps.dropFirst()
        switch step {
        case .send(let text): send(Array(text.utf8), then: rest, after: .zero, context)
        case .bytes(let bytes): send(bytes, then: rest, after: .zero, context)
        case .endlessly(let bytes): send(bytes, then: steps, after: .zero, context)
        case .trickle(let text, let pause): send(Array(text.utf8), then: steps, after: pause, context)
        case .close: context.close(promise: nil)
        case .reset:
            (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                .assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        case .hang: break
        }
    }

    private func send(
        _ bytes: [UInt8], then steps: ArraySlice<Step>, after pause: TimeAmount,
        _ context: ChannelHandlerContext
    ) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes))).assumeIsolated().whenSuccess {
            self.server.note(sent: bytes.count)
            context.eventLoop.assumeIsolated().scheduleTask(in: pause) { self.run(steps, context) }
        }
    }
}
