import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization
public import SystemPackage
public import VaultBase
import VaultFileSystem
import VaultTransport

/// One client for each name reached over TLS, which checks certificates against that name; and one for everything else.
final class HTTPClients: Sendable {
    /// Limits memory: redirects may lead to any number of hosts.
    private static let limit = 32

    /// Bytes that are read of a connection at a time. Over fast lines a quarter of NIO's system calls and task switches, which took a tenth
    /// of the time of a download over loopback.
    private static let reading = AdaptiveRecvByteBufferAllocator(
        minimum: 1 << 10, initial: 16 << 10, maximum: 256 << 10)

    let configuration: HTTPClient.Configuration
    /// By host name; empty for everything else.
    private let clients = Mutex<[String: HTTPClient]>([:])

    init(_ configuration: HTTPClient.Configuration) { self.configuration = configuration }

    func client(for url: HTTPURL) throws(VaultError) -> HTTPClient {
        let name = url.certifiedName ?? ""
        return try clients.withLock { clients throws(VaultError) in
            if let known = clients[name] { return known }
            guard clients.count < Self.limit else {
                throw VaultError(
                    .unavailable, "the site redirects to more than \(Self.limit) hosts", at: url.authority,
                    remedy: "use a site that needs fewer hosts")
            }
            var configuration = configuration
            let check = name.isEmpty ? nil : HostCertificate.check(for: name)
            configuration.http1_1ConnectionDebugInitializer = { channel in
                let prepared = Self.prepare(channel)
                guard let check else { return prepared }
                return prepared.flatMap { check(channel) }
            }
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            clients[name] = client
            return client
        }
    }

    /// Prepares a connection for its first request.
    private static func prepare(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit {
            let handlers = channel.pipeline.syncOperations
            let decoder = try handlers.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            let responses = DecodedResponses()
            try handlers.addHandler(ResponseStatusCheck(), position: .after(decoder))
            try handlers.addHandler(responses, position: .after(decoder))
            try handlers.addHandler(SurplusCheck(besides: responses), position: .first)
            try handlers.addHandler(ReadsOnDemand(), position: .first)
            try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
            try channel.syncOptions?.setOption(.recvAllocator, value: reading)
        }
    }

    func shutdown() async {
        let all = clients.withLock { clients in Array(clients.values) }
        for client in all { try? await client.shutdown() }
    }
}

extension HTTPURL {
    /// The name that the host's certificate must have; nil without TLS and for IP addresses.
    var certifiedName: String? {
        guard isSecure, !host.hasPrefix("["), (try? SocketAddress(ipAddress: host, port: 0)) == nil else {
            return nil
        }
        return host
    }
}

/// A proxy for all connections to hosts: `CONNECT` (RFC 9110, section 9.3.6), for http too, or SOCKS 5 (RFC 1928). The
/// proxy resolves the host names.
public struct HTTPProxy: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case http(Authorization?)
        case socks5
    }

    /// Credentials sent to an HTTP proxy as `Proxy-Authorization`, unencrypted.
    public enum Authorization: Hashable, Sendable {
        case basic(user: String, password: String)
        case bearer(token: String)
    }

    /// A name or an address, without brackets.
    public let host: String
    public let port: UInt16
    public let kind: Kind

    public init(host: String, port: UInt16, kind: Kind = .http(nil)) {
        (self.host, self.port, self.kind) = (host, port, kind)
    }

    /// Reads `http://HOST:PORT` or `socks5://HOST:PORT`.
    ///
    /// - Throws: `.usage` for anything else. A text with user information is not repeated, as it may hold a password.
    public init(_ text: String) throws(VaultError) {
        guard !text.contains("@") else {
            throw VaultError(
                .usage, "the URL has a user name or password", at: "proxy",
                remedy:
                    "use a local proxy that logs in by itself, or set the authorization in an app's code")
        }
        let (kind, rest): (Kind, Substring) =
            switch text.prefix(while: { $0 != ":" }).lowercased() {
            case "http": (.http(nil), text.dropFirst(4))
            case "socks5": (.socks5, text.dropFirst(6))
            default: (.http(nil), "")
            }
        guard let url = HTTPURL("http\(rest)"), let port = url.port, ["", "/"].contains(url.path),
            url.query == nil, !text.contains("#")
        else {
            throw VaultError(
                .usage, "not the URL of a proxy", at: text,
                remedy: "give http://HOST:PORT or socks5://HOST:PORT")
        }
        let isBracketed = url.host.hasPrefix("[")
        self.init(
            host: isBracketed ? String(url.host.dropFirst().dropLast()) : url.host, port: port, kind: kind)
    }

    /// Its name in errors.
    var place: String { "the proxy \(host):\(port)" }

    var configuration: HTTPClient.Configuration.Proxy {
        switch kind {
        case .http(let authorization):
            .server(host: host, port: Int(port), authorization: authorization?.header)
        case .socks5: .socksServer(host: host, port: Int(port))
        }
    }
}

extension HTTPProxy.Authorization {
    fileprivate var header: HTTPClient.Authorization {
        switch self {
        case .basic(let user, let password): .basic(username: user, password: password)
        case .bearer(let token): .bearer(tokens: token)
        }
    }
}

extension HTTPProxy.Authorization: CustomStringConvertible, CustomReflectable {
    public var description: String { "secret" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The only certificate authorities to trust, for hosts with a certificate of a private one.
public struct CertificateAuthorities: Sendable {
    let certificates: [NIOSSLCertificate]

    /// Reads a file of PEM certificates.
    ///
    /// - Throws: `.missing` when the file does not exist, `.corrupt` when it holds no certificates.
    public init(pem path: FilePath) throws(VaultError) {
        let bytes = try DurableFile.read(path, limit: 16 << 20)
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
            throw VaultError(
                .corrupt, "not a file of PEM certificates", at: path.string,
                remedy: "use the file with the certificate of the host's certificate authority")
        }
        self.certificates = certificates
    }
}

/// Compares a host's certificate with the requested name (RFC 9525). The TLS library has done that before, but also
/// accepts a certificate for the *address* of the connection: an attacker who redirects a name to his own address, and
/// has a certificate for that address, could impersonate the host.
enum HostCertificate {
    /// The certificate is for another host.
    struct Mismatch: Error {}

    /// The check to run when the TLS handshake is complete.
    static func check(for host: String) -> @Sendable (any Channel) -> EventLoopFuture<Void> {
        { channel in
            channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
                guard let certificate, isCertified(host, by: certificate) else {
                    channel.close(promise: nil)
                    throw Mismatch()
                }
            }
        }
    }

    private static func isCertified(_ host: String, by certificate: NIOSSLCertificate) -> Bool {
        let names = certificate._subjectAlternativeNames()
        // Without alternative names the TLS library compared the common name.
        if names.isEmpty { return true }
        return names.contains { name in
            name.nameType == .dnsName && matches(String(decoding: name.contents, as: UTF8.self), host)
        }
    }

    /// `*` matches one whole label, the first of three or more.
    static func matches(_ pattern: String, _ host: String) -> Bool {
        let pattern = labels(of: pattern)
        let host = labels(of: host)
        guard pattern.first == "*" else { return pattern == host }
        return pattern.count > 2 && pattern.count == host.count && pattern.dropFirst() == host.dropFirst()
    }

    private static func labels(of name: String) -> [Substring] {
        let name = name.lowercased()
        return (name.hasSuffix(".") ? name.dropLast() : name[...])
            .split(separator: ".", omittingEmptySubsequences: false)
    }
}
