import FaultServer
import Testing
import VaultBase
import VaultHTTP
import VaultTransport

@Suite struct RedirectTests {
    /// Each request to `/N` is redirected to `/N-1`, until `/0` sends the file.
    private static let countdown: @Sendable (String, String) -> [Step] = { head, base in
        let number = Int(head.split(separator: " ")[1].dropFirst()) ?? 0
        guard number > 0 else { return [.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere")] }
        // Absolute, relative to the host, relative to the folder.
        let target = ["\(base)/\(number - 1)", "/\(number - 1)", "\(number - 1)"][number % 3]
        let status = [301, 302, 303, 307, 308][number % 5]
        return [.send("HTTP/1.1 \(status) Go\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")]
    }

    @Test func followsFiveRedirectsAtMost() async throws {
        try await withFaultServer(Self.countdown) { server in
            let bytes = try await fetch(TransportRequest(server.location("5")))
            #expect(bytes == Array("here".utf8))
            #expect(server.requests.count == 6)
            let error = await failure { _ = try await fetch(TransportRequest(server.location("6"))) }
            #expect(error?.category == .unavailable)
            #expect(error?.problem == "redirected more than 5 times")
        }
    }

    @Test func redirectLoopEnds() async throws {
        try await withFaultServer(.send("HTTP/1.1 302 F\r\nLocation: /file\r\nContent-Length: 0\r\n\r\n")) {
            server in
            let error = await failure { _ = try await fetch(TransportRequest(server.location())) }
            #expect(error?.category == .unavailable)
            #expect(server.requests.count == 6)
        }
    }

    @Test func redirectKeepsTheRange() async throws {
        try await withFaultServer { head, _ in
            head.hasPrefix("GET /1 ")
                ? [.send("HTTP/1.1 302 F\r\nLocation: /0?signed=yes\r\nContent-Length: 0\r\n\r\n")]
                : [.send("HTTP/1.1 206 P\r\nContent-Range: bytes 1-2/9\r\nContent-Length: 2\r\n\r\nab")]
        } _: { server in
            let request = TransportRequest(try server.location("1"), range: ByteRange(1...2))
            #expect(try await HTTPTransport().get(request).part.body.collected() == Array("ab".utf8))
            let last = try #require(server.requests.last)
            #expect(last.hasPrefix("GET /0?signed=yes "))
            #expect(last.contains("bytes=1-2"))
        }
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://localhost/x", "http://", "http://user:word@localhost/",
        "http+unix://%2Frun%2Fx/", "http://[::1", "",
    ])
    func refusesOtherSchemes(target: String) async throws {
        try await withFaultServer(.send("HTTP/1.1 302 F\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n"))
        { server in
            let error = await failure { _ = try await fetch(TransportRequest(server.location())) }
            #expect(error?.category == .unavailable)
            #expect(
                error?.problem == "redirected, but not to an http or https URL",
                "\(String(describing: error))")
            #expect(server.requests.count == 1)
        }
    }

    @Test func refusesHTTPSToHTTP() async throws {
        try await withAuthority { authority in
            try await withFaultServer(.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain")) { plain in
                let base = plain.base
                try await withFaultServer(secure: true) { head, _ in
                    head.hasPrefix("GET /down ")
                        ? [.send("HTTP/1.1 301 M\r\nLocation: \(base)/file\r\nContent-Length: 0\r\n\r\n")]
                        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")]
                } _: { secure in
                    let fine = TransportRequest(try secure.location("stay"))
                    #expect(try await fetch(fine, certificateAuthorities: authority) == Array("secret".utf8))
                    let down = TransportRequest(try secure.location("down"))
                    let error = await failure { _ = try await fetch(down, certificateAuthorities: authority) }
                    #expect(error?.category == .unavailable)
                    #expect(error?.problem == "redirected from https to http, which is not followed")
                    #expect(plain.requests.isEmpty)
                }
            }
        }
    }

    @Test func followsHTTPToHTTPS() async throws {
        try await withAuthority { authority in
            try await withFaultServer(
                secure: true, always: [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")]
            ) { secure in
                let up = "HTTP/1.1 301 M\r\nLocation: \(secure.base)/file\r\nContent-Length: 0\r\n\r\n"
                try await withFaultServer(.send(up)) { plain in
                    let request = TransportRequest(try plain.location())
                    #expect(
                        try await fetch(request, certificateAuthorities: authority) == Array("secret".utf8))
                }
            }
        }
    }

    @Test func refusesAnUnknownAuthority() async throws {
        try await withFaultServer(secure: true, always: [.hang]) { secure in
            let error = await failure { _ = try await fetch(TransportRequest(secure.location())) }
            #expect(error?.category == .unavailable)
            #expect(
                error?.problem == "no secure connection (CERTIFICATE_VERIFY_FAILED)",
                "\(String(describing: error))")
            #expect(secure.requests.isEmpty)
        }
    }
}
