import FaultServer
import Testing
import VaultBase
import VaultHTTP
import VaultTransport

/// Busy hosts with `Retry-After`.
@Suite struct RetryAfterTests {
    private static let date = "Date: Sun, 06 Nov 1994 08:49:00 GMT"

    private func wait(status: Int = 503, _ headers: String...) async throws -> Duration? {
        let head = (["HTTP/1.1 \(status) Busy", "Content-Length: 0"] + headers).joined(separator: "\r\n")
        return try await withFaultServer(.send("\(head)\r\n\r\n")) { server in
            guard case .busy(_, let wait) = try await HTTPTransport().get(TransportRequest(server.location()))
            else { throw Unexpected(response: "not busy") }
            return wait
        }
    }

    @Test(arguments: [429, 503]) func parsesSeconds(status: Int) async throws {
        #expect(try await wait(status: status, "Retry-After: 7") == .seconds(7))
        #expect(try await wait(status: status, "Retry-After: 0") == .zero)
        #expect(try await wait(status: status) == nil)
    }

    /// Numbers that overflow are very long waits.
    @Test func parsesHugeNumbers() async throws {
        let asked = try #require(try await wait("Retry-After: 99999999999999999999999"))
        #expect(asked > .seconds(1_000_000_000))
    }

    /// All forms of RFC 9110, compared with the host's own clock.
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 37), ("Sunday, 06-Nov-94 08:49:37 GMT", 37),
        ("Sun Nov  6 08:49:37 1994", 37), ("Mon, 07 Nov 1994 08:49:00 GMT", 86400),
        ("Wed, 01 Mar 1995 08:49:00 GMT", 115 * 86400), ("Sun, 06 Nov 1994 08:48:00 GMT", 0),
        ("Fri, 06 Nov 2020 08:49:00 GMT", 9497 * 86400),
    ])
    func parsesDates(date: String, seconds: Int) async throws {
        #expect(try await wait("Retry-After: \(date)", Self.date) == .seconds(seconds))
    }

    @Test func usesTheLocalClockWithoutDate() async throws {
        #expect(try await wait("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT") == .zero)
        let far = try #require(try await wait("Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", "Date: nonsense"))
        #expect(far > .seconds(86400))
    }

    @Test(arguments: [
        "soon", "-1", "+1", "1.5", "1 2", "0x10", "", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nop 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 199 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
        "99999999999999999999 Nov 1994", "7\r\nRetry-After: 7",
    ])
    func ignoresInvalidValues(value: String) async throws {
        #expect(try await wait("Retry-After: \(value)", Self.date) == nil)
    }

    @Test func appearsInTheRemedy() async throws {
        for (header, remedy) in [("Retry-After: 7", "try again in 7 seconds"), ("X: y", "try again later")] {
            let response = "HTTP/1.1 429 Busy\r\n\(header)\r\nContent-Length: 0\r\n\r\n"
            try await withFaultServer(.send(response)) { server in
                let error = await failure {
                    _ = try await HTTPTransport().bytes(at: server.location(), limit: 10)
                }
                #expect(error?.category == .unavailable)
                #expect(error?.remedy == remedy)
                #expect(error?.place == "\(server.base)/file")
            }
        }
    }
}
