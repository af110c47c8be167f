import NIOCore
import NIOPosix
import Synchronization

/// A proxy on this machine that leads to ports of 127.0.0.1, whatever name is asked for: by `CONNECT`
/// (RFC 9110, section 9.3.6), or SOCKS 5 without a login (RFC 1928).
public final class TunnelProxy: Sendable {
    /// Not the address of any server: a certificate for the address of a connection's other end is taken for that of
    /// every host, and the other end is the proxy.
    public let host = "127.0.0.2"
    public let port: Int
    private let channel: any Channel
    private let asked = Log()

    final class Log: Sendable {
        let entries = Mutex<[String]>([])
    }

    /// - Parameter refusal: What every `CONNECT` gets as an answer instead of a tunnel.
    public init(refusal: String? = nil) throws {
        let asked = asked
        channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        TunnelHandler(log: asked, refusal: refusal))
                }
            }
            .bind(host: host, port: 0).wait()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    /// Its name and port.
    public var address: String { "\(host):\(port)" }

    /// The heads of all `CONNECT` requests, and `socks5 HOST:PORT` for others.
    public var requests: [String] { asked.entries.withLock { $0 } }
}

/// The client's side of a tunnel.
private final class TunnelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        case greeting
        case socksRequest
        case connecting
        case open(any Channel)
    }

    private let log: TunnelProxy.Log
    private let refusal: String?
    private var state = State.greeting
    private var received: [UInt8] = []

    init(log: TunnelProxy.Log, refusal: String?) { (self.log, self.refusal) = (log, refusal) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        if case .open(let host) = state { return host.writeAndFlush(buffer, promise: nil) }
        received += buffer.readableBytesView
        switch state {
        case .greeting where received.first == 5:
            guard received.count >= 2, received.count >= 2 + Int(received[1]) else { return }
            received = []
            state = .socksRequest
            send([5, 0], context)
        case .greeting:
            guard received.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return }
            let head = String(decoding: received.dropLast(4), as: UTF8.self)
            note(head)
            if let refusal { return send(Array(refusal.utf8), context) }
            let target = head.split(separator: " ").dropFirst().first ?? ""
            let port = target.split(separator: ":").last.flatMap { Int($0) } ?? 0
            open(to: port, saying: Array("HTTP/1.1 200 OK\r\n\r\n".utf8), context)
        case .socksRequest:
            // Only names are expected: 5, connect, 0, name, its length.
            guard received.count > 5, received.count >= 7 + Int(received[4]) else { return }
            let name = received[5..<5 + Int(received[4])]
            let port = Int(received[5 + name.count]) << 8 | Int(received[6 + name.count])
            note("socks5 \(String(decoding: name, as: UTF8.self)):\(port)")
            open(to: port, saying: [5, 0, 0, 1, 0, 0, 0, 0, 0, 0], context)
        case .connecting, .open: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if case .open(let host) = state { host.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func note(_ request: String) { log.entries.withLock { $0.append(request) } }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    private func open(to port: Int, saying welcome: [UInt8], _ context: ChannelHandlerContext) {
        state = .connecting
        let client = context.channel
        ClientBootstrap(group: context.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ReturnHandler(client: client))
                }
            }
            .connect(host: "127.0.0.1", port: port).assumeIsolated().whenComplete { result in
                switch result {
                case .success(let host):
                    self.state = .open(host)
                    self.send(welcome, context)
                case .failure: context.close(promise: nil)
                }
            }
    }
}

/// The host's side of a tunnel.
private final class ReturnHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let client: any Channel

    init(client: any Channel) { self.client = client }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        client.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { client.close(promise: nil) }
}
