import FaultServer
import Testing
import VaultBase
import VaultHTTP
import VaultTransport

/// Valid and invalid response heads.
@Suite struct HTTPResponseTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let partial = "HTTP/1.1 206 Partial Content\r\n"

    @Test func readsAWholeFile() async throws {
        try await withFaultServer(.send("\(Self.ok)Content-Length: 5\r\n\r\nhello")) { server in
            let body = try await HTTPTransport().get(TransportRequest(server.location("dir/file.bin"))).whole
            #expect(body.length == 5)
            #expect(try await body.collected() == Array("hello".utf8))
            let head = try #require(server.requests.first)
            #expect(head.hasPrefix("GET /dir/file.bin HTTP/1.1\r\n"))
            #expect(head.lowercased().contains("\r\naccept-encoding: identity"))
            #expect(!head.lowercased().contains("range:"))
        }
    }

    @Test(arguments: ["000", "020", "099"])
    func refusesAStatusThatHTTPDoesNotHave(status: String) async throws {
        try await withFaultServer(.send("HTTP/1.1 \(status) So\r\nContent-Length: 5\r\n\r\nhello")) {
            server in
            let error = await #expect(throws: VaultError.self) {
                _ = try await HTTPTransport().get(TransportRequest(server.location()))
            }
            #expect(error?.category == .unavailable)
            #expect(error?.description.contains("not valid HTTP") == true)
        }
    }

    @Test func readsAPart() async throws {
        let response = "\(Self.partial)Content-Range: bytes 2-4/9\r\nContent-Length: 3\r\n\r\nllo"
        try await withFaultServer(.send(response)) { server in
            let request = TransportRequest(try server.location(), range: ByteRange(2...4))
            let (range, body) = try await HTTPTransport().get(request).part
            #expect((range.first, range.last, range.total, range.length) == (2, 4, 9, 3))
            #expect(body.length == 3)
            #expect(try await body.collected() == Array("llo".utf8))
            let head = try #require(server.requests.first).lowercased()
            #expect(head.contains("\r\nrange: bytes=2-4"))
        }
    }

    @Test func readsAPartUpToTheEnd() async throws {
        try await withFaultServer(.send("\(Self.partial)Content-Range: bytes 7-8/9\r\n\r\nyz"), .close) {
            server in
            // Without `Content-Length` the part has the length of its range.
            let (range, body) = try await HTTPTransport()
                .get(TransportRequest(server.location(), range: ByteRange(7...8))).part
            #expect((range.first, range.last, body.length) == (7, 8, 2))
            #expect(try await body.collected() == Array("yz".utf8))
            #expect(server.requests.first?.contains("bytes=7-8\r\n") == true)
            // A last byte after the end is clamped.
            let longer = TransportRequest(try server.location(), range: ByteRange(7...100))
            #expect(try await HTTPTransport().get(longer).part.range.last == 8)
        }
    }

    @Test func acceptsAWholeFileForARange() async throws {
        try await withFaultServer(.send("\(Self.ok)Content-Length: 5\r\n\r\nhello")) { server in
            let request = TransportRequest(try server.location(), range: ByteRange(2...3))
            #expect(try await HTTPTransport().get(request).whole.collected() == Array("hello".utf8))
        }
    }

    @Test(arguments: [
        "Content-Range: bytes 1-4/9", "Content-Range: bytes 2-3/9", "Content-Range: bytes 2-5/9", "X: y",
        "Content-Range: bytes 2-4/*", "Content-Range: bytes */9", "Content-Range: bytes 4-2/9",
        "Content-Range: bytes 2-4/4", "Content-Range: bits 2-4/9", "Content-Range: bytes 2-4",
        "Content-Range: bytes +2-4/9", "Content-Range: bytes 2-18446744073709551615/18446744073709551615",
        "Content-Range: bytes 2-99999999999999999999/9",
        "Content-Range: bytes 2-4/9\r\nContent-Range: bytes 2-4/9",
        "Content-Range: bytes 2-4/9\r\nContent-Length: 4", "Content-Type: multipart/byteranges; boundary=b",
    ])
    func refusesAnotherRange(headers: String) async throws {
        try await withFaultServer(.send("\(Self.partial)\(headers)\r\n\r\nllo"), .close) { server in
            let request = TransportRequest(try server.location(), range: ByteRange(2...4))
            let error = await failure { _ = try await fetch(request) }
            #expect(error?.category == .unavailable)
            #expect(error?.problem.contains("another part") == true)
        }
    }

    @Test(arguments: [
        "Content-Encoding: gzip", "Content-Encoding: br", "Content-Encoding: identity, gzip",
        "Content-Encoding: identity\r\nContent-Encoding: deflate", "Transfer-Encoding: gzip, chunked",
    ])
    func refusesEncodedBodies(header: String) async throws {
        for head in [Self.ok, "\(Self.partial)Content-Range: bytes 0-3/4\r\n"] {
            try await withFaultServer(.send("\(head)\(header)\r\n\r\n\u{1f}garbage"), .close) { server in
                let request = TransportRequest(try server.location(), range: ByteRange(0...3))
                let error = await failure { _ = try await fetch(request) }
                #expect(error?.category == .unavailable)
                #expect(error?.problem.contains("encoded") == true)
            }
        }
    }

    @Test(arguments: [403, 404, 410])
    func missingFileStatuses(status: Int) async throws {
        try await withFaultServer(.send("HTTP/1.1 \(status) No\r\nContent-Length: 4\r\n\r\nsorr")) { server in
            guard case .absent = try await HTTPTransport().get(TransportRequest(server.location())) else {
                Issue.record("not absent")
                return
            }
            #expect(try await HTTPTransport().bytes(at: server.location(), limit: 10) == nil)
        }
    }

    @Test(arguments: [("bytes */9", 9 as UInt64?), ("bytes */*", nil), ("bytes 0-1/9", nil), ("x", nil)])
    func rangeAfterTheEnd(contentRange: String, total: UInt64?) async throws {
        let response = "HTTP/1.1 416 No\r\nContent-Range: \(contentRange)\r\nContent-Length: 0\r\n\r\n"
        try await withFaultServer(.send(response)) { server in
            let request = TransportRequest(try server.location(), range: ByteRange(9...10))
            guard case .outOfRange(let found) = try await HTTPTransport().get(request) else {
                Issue.record("not out of range")
                return
            }
            #expect(found == total)
            // No part was requested.
            #expect(
                await failure { _ = try await fetch(TransportRequest(server.location())) }?.category
                    == .unavailable)
        }
    }

    @Test(arguments: [
        (500, "X: y", "try again later"), (502, "X: y", "try again later"), (401, "X: y", "without a login"),
        (204, "X: y", "check"), (206, "Content-Range: bytes 0-0/1", "Range"), (304, "X: y", "check"),
        (300, "Location: /x", "check"), (400, "X: y", "check"), (418, "X: y", "check"),
    ])
    func otherStatusesAreErrors(status: Int, header: String, remedy: String) async throws {
        try await withFaultServer(.send("HTTP/1.1 \(status) X\r\n\(header)\r\nContent-Length: 0\r\n\r\n")) {
            server in
            let error = await failure { _ = try await fetch(TransportRequest(server.location())) }
            #expect(error?.category == .unavailable)
            #expect(error?.remedy.contains(remedy) == true, "\(String(describing: error))")
            #expect(error?.place == "\(server.base)/file")
        }
    }
}
