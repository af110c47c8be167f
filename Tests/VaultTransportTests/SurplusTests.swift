import FaultServer
import Testing
import VaultBase
import VaultHTTP
import VaultTransport

/// Hosts that send much more than the bodies of their responses.
@Suite(.timeLimit(.minutes(2))) struct SurplusTests {
    private static let noise = String(repeating: "x", count: 600)
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// What a host sends at first, and then again and again.
    static let floods: [(String, String)] = [
        (chunked, "1;\(noise)\r\nx\r\n"),
        ("", "HTTP/1.1 103 Early Hints\r\nLink: \(noise)\r\n\r\n"),
        ("", "HTTP/1.1 100 Continue\r\n\r\n"),
        ("", "\r\n"),
        ("HTTP/1.1 200 ", noise),
        ("\(chunked)1;", noise),
        ("\(chunked)0\r\nTrailer: ", noise),
    ]

    /// A client that took 20 MB would have taken any number.
    @Test(arguments: floods.indices, [false, true])
    func aFloodEnds(_ number: Int, isSecure: Bool) async throws {
        let (head, piece) = Self.floods[number]
        let pieces = String(repeating: piece, count: 1 + 4096 / piece.utf8.count)
        let flood = [Step.send(head)] + Array(repeating: Step.send(pieces), count: 5000)
        try await withAuthority { authority in
            try await withFaultServer(secure: isSecure, always: flood) { server in
                let error = await failure {
                    _ = try await fetch(
                        TransportRequest(server.location()), certificateAuthorities: authority)
                }
                #expect(error?.category == .unavailable, "\(String(describing: error))")
                // What the system's buffers hold comes in addition.
                #expect(server.sent < 15_000_000, "\(server.sent)")
            }
        }
    }

    @Test func theErrorSaysWhatCame() async throws {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: \(Self.noise)\r\n\r\n"
        try await withFaultServer(.send(String(repeating: hints, count: 200)), .hang) { server in
            let error = await failure { _ = try await fetch(TransportRequest(server.location())) }
            #expect(error?.category == .unavailable)
            #expect(error?.problem.contains("bytes beside what was asked for") == true)
        }
    }

    /// The surplus of many small responses over one connection is no flood, nor is that of chunks of 1 KiB.
    @Test func usualResponses() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nServer: \(Self.noise)\r\n\r\nhello"
        try await withFaultServer(.send(head)) { server in
            let transport = HTTPTransport()
            for _ in 0..<300 {
                let body = try await transport.get(TransportRequest(server.location())).whole
                #expect(try await body.collected() == Array("hello".utf8))
            }
            await transport.shutdown()
            #expect(server.requests.count == 300)
        }
        let chunk = "400\r\n\(String(repeating: "x", count: 1024))\r\n"
        let body = Self.chunked + String(repeating: chunk, count: 900) + "0\r\n\r\n"
        try await withFaultServer(.send(body)) { server in
            let bytes = try await fetch(TransportRequest(server.location()))
            #expect(bytes.count == 900 * 1024)
        }
    }
}
