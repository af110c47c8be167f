import FaultServer
import SystemPackage
import Testing
import VaultBase
import VaultHTTP
import VaultTransport

@Suite struct ProxyTests {
    private static let response = Step.send(
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nhere")

    /// Only the proxy can resolve the name.
    @Test(arguments: ["http", "socks5"]) func connectsThroughTheProxy(scheme: String) async throws {
        try await withFaultServer(Self.response, .close) { server in
            let proxy = try TunnelProxy()
            let request = TransportRequest(try SiteLocation("http://cdn.test:\(server.port)/file"))
            let route = try HTTPProxy("\(scheme)://\(proxy.address)")
            #expect(try await fetch(request, proxy: route) == Array("here".utf8))
            #expect(proxy.requests.count == 1)
            #expect(proxy.requests.first?.contains("cdn.test:\(server.port)") == true)
            #expect(server.requests.first?.contains("cdn.test:\(server.port)") == true)
        }
    }

    /// The proxy sees no part of the request.
    @Test(arguments: ["http", "socks5"]) func connectsThroughTheProxyWithTLS(scheme: String) async throws {
        try await withAuthority { authority in
            try await withFaultServer(secure: true, always: [Self.response, .close]) { server in
                let proxy = try TunnelProxy()
                let route = try HTTPProxy("\(scheme)://\(proxy.address)/")
                let bytes = try await fetch(
                    TransportRequest(server.location("secret")), proxy: route,
                    certificateAuthorities: authority)
                #expect(bytes == Array("here".utf8))
                #expect(proxy.requests.count == 1 && !proxy.requests[0].contains("secret"))
                // The certificate is for the host, so another name is refused.
                let other = try SiteLocation("https://cdn.test:\(server.port)/file")
                let error = await failure {
                    _ = try await fetch(
                        TransportRequest(other), proxy: route, certificateAuthorities: authority)
                }
                #expect(error?.problem.contains("no secure connection") == true)
            }
        }
    }

    @Test func sendsAuthorization() async throws {
        try await withFaultServer(Self.response, .close) { server in
            let proxy = try TunnelProxy()
            for (authorization, header) in [
                (HTTPProxy.Authorization.basic(user: "u", password: "hunter2"), "Basic dTpodW50ZXIy"),
                (.bearer(token: "hunter2"), "Bearer hunter2"),
            ] {
                let route = HTTPProxy(
                    host: proxy.host, port: UInt16(proxy.port), kind: .http(authorization))
                #expect(try await fetch(TransportRequest(server.location()), proxy: route).count == 4)
                let head = try #require(proxy.requests.last).lowercased()
                #expect(head.contains("proxy-authorization: \(header.lowercased())"))
                // Only the proxy gets it, and no message contains it.
                #expect(server.requests.allSatisfy { !$0.lowercased().contains("authorization") })
                #expect(!"\(route)".contains("hunter2") && !String(reflecting: route).contains("hunter2"))
            }
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 407 Login\r\nContent-Length: 0\r\n\r\n", "login"),
        ("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", "did not connect"),
    ])
    func proxyRefusalIsReported(response: String, word: String) async throws {
        let proxy = try TunnelProxy(refusal: response)
        let route = try HTTPProxy("http://\(proxy.address)")
        let request = TransportRequest(try SiteLocation("http://cdn.test/file"))
        let error = await failure { _ = try await fetch(request, proxy: route) }
        #expect(error?.category == .unavailable)
        #expect(error?.problem.contains(word) == true, "\(String(describing: error))")
    }

    /// The error names the unreachable peer: the proxy or the host.
    @Test(arguments: [nil, "http", "socks5"]) func unreachablePeerIsNamed(scheme: String?) async throws {
        // Where nobody listens. A port that is free again may be another test's by now.
        let port = 1
        let request = TransportRequest(try SiteLocation("http://127.0.0.1:\(port)/file"))
        let proxy = try scheme.map { scheme throws(VaultError) in
            try HTTPProxy("\(scheme)://127.0.0.1:\(port)")
        }
        let error = await failure { _ = try await fetch(request, proxy: proxy) }
        #expect(error?.category == .unreachable)
        let peer = (proxy == nil ? "" : "the proxy ") + "127.0.0.1:\(port)"
        #expect(
            error?.problem.hasPrefix("can't reach \(peer) (Connection refused") == true,
            "\(error?.problem ?? "")")
        #expect(error?.remedy.contains("that the server is running") == true)
    }

    @Test(arguments: [
        ("http://proxy:3128", "proxy", 3128 as UInt16, HTTPProxy.Kind.http(nil)),
        ("HTTP://Proxy:80/", "proxy", 80, .http(nil)), ("http://[::1]:8080", "::1", 8080, .http(nil)),
        ("socks5://10.0.0.1:1080", "10.0.0.1", 1080, .socks5),
    ])
    func parsesURLs(text: String, host: String, port: UInt16, kind: HTTPProxy.Kind) throws {
        #expect(try HTTPProxy(text) == HTTPProxy(host: host, port: port, kind: kind))
    }

    @Test(arguments: [
        "", "proxy", "proxy:3128", "http://proxy", "https://proxy:443", "socks4://proxy:1080", "http://:80",
        "http://proxy:0", "http://proxy:99999", "http://proxy:80/path", "http://proxy:80?x", "http://p:80#x",
        "socks5h://proxy:1080", "http:proxy:80",
    ])
    func refusesInvalidURLs(text: String) {
        let error = #expect(throws: VaultError.self) { try HTTPProxy(text) }
        #expect(error?.category == .usage)
    }

    @Test(arguments: ["http://user:hunter2@proxy:80", "socks5://hunter2@proxy:80", "user:hunter2@proxy"])
    func errorsNeverContainAPassword(text: String) {
        let error = #expect(throws: VaultError.self) { try HTTPProxy(text) }
        #expect(error?.category == .usage)
        #expect(error?.description.contains("hunter2") == false)
        #expect(error?.remedy.contains("authorization") == true)
    }
}
