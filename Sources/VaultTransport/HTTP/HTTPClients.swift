import AsyncHTTPClient
import NIOCore
import Synchronization
import VaultErrors

/// One client for each name reached over TLS, which checks certificates against that name; and one for everything else.
final class HTTPClients: Sendable {
    /// Limits memory: redirects may lead to any number of hosts.
    private static let limit = 32

    private let configuration: HTTPClient.Configuration
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
                let added = ResponseStatusCheck.add(to: channel).flatMap { SurplusCheck.add(to: channel) }
                guard let check else { return added }
                return added.flatMap { check(channel) }
            }
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            clients[name] = client
            return client
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
