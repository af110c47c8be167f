import NIOCore
import NIOPosix
import NIOSSL

/// A web server that misbehaves on purpose, and records requests and answers. It listens on a free port of 127.0.0.1
/// until it is released.
public final class FaultServer: Sendable {
    public let port: Int
    /// Its scheme, name and port.
    public let base: String
    /// By address, for a site at its root.
    public let url: String
    private let journal: Journal
    private let channel: any Channel

    /// Answers every request by `script`, which may take its time: it runs in a thread of its own.
    public init(
        secure: Bool = false, flaw: TLSFlaw? = nil, _ script: @escaping @Sendable (Request) -> [Step]
    ) throws {
        let journal = Journal()
        let scheme = secure ? "https" : "http"
        let tls = try secure ? NIOSSLContext(configuration: TestCertificate.serverConfiguration(flaw)) : nil
        channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handlers = channel.pipeline.syncOperations
                    if let tls { try handlers.addHandler(NIOSSLServerHandler(context: tls)) }
                    try handlers.addHandler(
                        FaultHandler(journal: journal, scheme: scheme, script: script))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
        port = channel.localAddress?.port ?? 0
        base = "\(scheme)://localhost:\(port)"
        url = "\(scheme)://127.0.0.1:\(port)/"
        self.journal = journal
    }

    /// Serves the folder `site`, as `script` says for each request.
    public convenience init(
        _ site: String, secure: Bool = false,
        _ script: @escaping @Sendable (Request) -> Answer = { _ in .file }
    ) throws {
        try self.init(secure: secure) { request in
            script(request).steps(for: request, in: site)
        }
    }

    deinit { channel.close(promise: nil) }

    /// Returns when nobody listens any more.
    public func stop() async throws { try await channel.close() }

    public var exchanges: [Exchange] { journal.now.exchanges }
    /// The heads of all requests so far.
    public var requests: [String] { exchanges.map(\.request.head) }
    /// The answers to requests for packs.
    public var packs: [Exchange] { exchanges.filter(\.request.isForPack) }
    /// The paths that were asked for and were there, in order.
    public var found: [String] {
        exchanges.filter { (200..<300).contains($0.status) }.map(\.request.path)
    }
    /// Bytes of pack bodies that the system took.
    public var packBytes: Int { packs.reduce(0) { $0 + $1.bodyBytes } }
    /// The same once what was sent is counted.
    public var packBytesAtRest: Int {
        get async throws {
            try await rest()
            return packBytes
        }
    }
    /// Returns when all that was sent is counted: a client may have the last bytes before they are. At the latest after 5 s, as a client
    /// may not take what is sent to it.
    public func rest() async throws {
        var before = -1
        for _ in 0..<100 {
            let now = journal.now
            // A busy machine may count late what it has sent.
            if now.sending == 0, now.sent == before { return }
            before = now.sent
            try await Task.sleep(for: .milliseconds(50))
        }
    }
    /// Bytes of everything that the system took.
    public var sent: Int { journal.now.sent }
    /// Connections that are over.
    public var closed: Int { journal.now.closed }
}
