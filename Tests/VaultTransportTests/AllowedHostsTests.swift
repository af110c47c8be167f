import FaultServer
import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultHTTP
import VaultTransport

/// Lists of allowed hosts.
@Suite struct AllowedHostsTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nhere"

    @Test(arguments: [
        (["localhost"], true), (["LOCALHOST", "example.com"], true), (["*.example.com"], false),
        (["*.localhost"], false), (["ocalhost"], false), (["127.0.0.1"], false), ([], false),
    ])
    func appliesToTheFirstURL(list: [String], isAllowed: Bool) async throws {
        try await withFaultServer(.send(Self.ok), .close) { server in
            let request = TransportRequest(try server.location())
            let hosts = try AllowedHosts(list)
            if isAllowed {
                #expect(try await fetch(request, allowedHosts: hosts) == Array("here".utf8))
            } else {
                let error = await failure { _ = try await fetch(request, allowedHosts: hosts) }
                #expect(error?.category == .untrusted)
                #expect(error?.problem.contains("'localhost'") == true)
                #expect(error.map { RetryPolicy.isWorthRetrying($0) } == false)
                #expect(server.requests.isEmpty)
            }
        }
    }

    /// With a proxy all names lead to the same server, so that only the list decides.
    @Test(arguments: [
        ("cdn.example.com", true), ("a.b.example.com", true), ("CDN.Example.COM", true),
        ("example.com", false), ("badexample.com", false), ("cdn.example.com.evil.org", false),
        ("cdn.example.com.", false), ("localhost", true), ("127.0.0.1", false), ("[::1]", false),
    ])
    func appliesToRedirects(host: String, isAllowed: Bool) async throws {
        let hosts = try AllowedHosts(["localhost", "*.example.com"])
        try await withFaultServer { head, base in
            let port = base.split(separator: ":").last ?? ""
            return head.hasPrefix("GET /file ")
                ? [.send("HTTP/1.1 302 F\r\nLocation: http://\(host):\(port)/x\r\nContent-Length: 0\r\n\r\n")]
                : [.send(Self.ok), .close]
        } _: { server in
            let proxy = try TunnelProxy()
            let request = TransportRequest(try server.location())
            let route = try HTTPProxy("http://\(proxy.address)")
            if isAllowed {
                let bytes = try await fetch(request, allowedHosts: hosts, proxy: route)
                #expect(bytes == Array("here".utf8))
                #expect(server.requests.count == 2)
            } else {
                let error = await failure {
                    _ = try await fetch(request, allowedHosts: hosts, proxy: route)
                }
                #expect(error?.category == .untrusted, "\(String(describing: error))")
                #expect(error?.problem.contains("'\(host)'") == true)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func foldersAreAlwaysAllowed() async throws {
        try await withFolder { folder in
            let file = SiteLocation(path: FilePath(folder.path).appending("none"))
            let transport = SchemeTransport(HTTPTransport(allowedHosts: try AllowedHosts([])))
            guard case .absent = try await transport.get(TransportRequest(file)) else {
                Issue.record("not absent")
                return
            }
        }
    }

    @Test(arguments: [
        "", "*", "*.", ".example.com", "example.com.", "a..b", "*.*.example.com", "cdn.*.com", "a*.com",
        "example.com:80", "http://example.com", "example.com/x", "user@example.com", "ex ample.com",
        "ex\u{e4}mple.com", "*.[::1]", "*.0.0.1", "[::1", "a?b", "a#b",
    ])
    func refusesInvalidPatterns(pattern: String) {
        let error = #expect(throws: VaultError.self) { try AllowedHosts(["fine.org", pattern]) }
        #expect(error?.category == .usage)
    }
}
