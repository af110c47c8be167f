import FaultServer
import Testing
import VaultBase
import VaultHTTP
import VaultTransport

/// Bodies that are too short, too long, too slow or broken.
@Suite(.timeLimit(.minutes(2))) struct HTTPBodyTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"

    @Test(arguments: [
        "Content-Length: 100\r\n\r\nonly this", "Transfer-Encoding: chunked\r\n\r\n9\r\nonly this\r\n",
        "Transfer-Encoding: chunked\r\n\r\n64\r\nonly this",
        "Transfer-Encoding: chunked\r\n\r\n9\r\nonly this\r\nzz\r\n",
    ])
    func truncatedBodyIsReported(response: String) async throws {
        for end in [Step.close, .reset] {
            try await withFaultServer(.send(Self.ok + response), end) { server in
                let error = await failure { _ = try await fetch(TransportRequest(server.location())) }
                #expect(error?.category == .unavailable)
            }
        }
    }

    @Test func truncatedPartIsReported() async throws {
        // The connection ends normally; only the length is wrong.
        let response = "HTTP/1.1 206 P\r\nContent-Range: bytes 0-99/100\r\nConnection: close\r\n\r\nonly this"
        try await withFaultServer(.send(response), .close) { server in
            let request = TransportRequest(try server.location(), range: ByteRange(0...99))
            let error = await failure { _ = try await fetch(request) }
            #expect(error?.category == .unavailable)
            #expect(error?.problem == "the body ended after 9 of 100 bytes")
        }
    }

    /// Documented: without a declared length only the caller can detect truncation.
    @Test func bodyWithoutLengthEndsWithTheConnection() async throws {
        try await withFaultServer(.send("\(Self.ok)Connection: close\r\n\r\nhalf"), .close) { server in
            let body = try await HTTPTransport().get(TransportRequest(server.location())).whole
            #expect(body.length == nil)
            #expect(try await body.collected() == Array("half".utf8))
        }
    }

    @Test func bytesAfterTheDeclaredLengthAreIgnored() async throws {
        try await withFaultServer(.send("\(Self.ok)Content-Length: 5\r\n\r\nhello and much more"), .close) {
            server in
            let bytes = try await fetch(TransportRequest(server.location()))
            #expect(bytes == Array("hello".utf8))
        }
    }

    @Test func declaredLengthOverTheLimitIsRefused() async throws {
        try await withFaultServer(.send("\(Self.ok)Content-Length: 6\r\n\r\nhello!")) { server in
            let location = try server.location()
            let error = await failure {
                _ = try await HTTPTransport().get(TransportRequest(location, limit: 5))
            }
            #expect(error?.category == .corrupt)
            #expect(try await HTTPTransport().bytes(at: location, limit: 6) == Array("hello!".utf8))
            #expect(
                await failure { _ = try await HTTPTransport().bytes(at: location, limit: 5) }?.category
                    == .corrupt)
        }
    }

    @Test(arguments: ["", "Transfer-Encoding: chunked\r\n"])
    func endlessBodyStopsAtTheLimit(header: String) async throws {
        let piece = Array("400\r\n\(String(repeating: "x", count: 1024))\r\n".utf8)
        try await withFaultServer(.send("\(Self.ok)\(header)\r\n"), .endlessly(piece)) { server in
            let request = TransportRequest(try server.location(), limit: 100_000)
            let body = try await HTTPTransport().get(request).whole
            var received = 0
            let error = await failure {
                for try await chunk in body { received += chunk.count }
            }
            #expect(error?.category == .corrupt)
            #expect(error?.problem == "more bytes than declared (100000)")
            #expect(received <= 100_000)
        }
    }

    @Test func slowBodyIsEnded() async throws {
        var limits = TransportLimits.testing
        limits.grace = .milliseconds(50)
        limits.window = .milliseconds(200)
        limits.bytesPerSecond = 10_000
        // Never idle, never complete.
        let steps: [Step] = [
            .send("\(Self.ok)Content-Length: 1000000\r\n\r\n"), .trickle("x", .milliseconds(10)),
        ]
        try await withFaultServer(always: steps) { server in
            let error = await failure {
                _ = try await fetch(TransportRequest(server.location()), limits: limits)
            }
            #expect(error?.category == .unavailable)
            #expect(error?.problem == "the host sends less than 10000 bytes per second")
        }
    }

    /// Complete responses that are all late: each alone is within the grace period.
    @Test func lateResponsesAreMeasuredTogether() async throws {
        var limits = TransportLimits.testing
        // Long beside one of them, also on a busy machine.
        limits.grace = .seconds(2)
        limits.window = .milliseconds(500)
        limits.bytesPerSecond = 1_000_000
        let slow = limits
        for isShared in [false, true] {
            for late: [Step] in [
                [.pause(.milliseconds(200)), .send("\(Self.ok)Content-Length: 5\r\n\r\nhello")],
                [.send("\(Self.ok)Content-Length: 5\r\n\r\n"), .pause(.milliseconds(200)), .send("hello")],
            ] {
                try await withFaultServer(always: late) { server in
                    let meter = ThroughputMeter()
                    let transport = HTTPTransport(limits: slow)
                    func ask() async throws {
                        for _ in 0..<16 {
                            var request = TransportRequest(try server.location())
                            if isShared { request.meter = meter }
                            _ = try await transport.get(request).whole.collected()
                        }
                    }
                    guard isShared else { return try await ask() }
                    let error = await failure { try await ask() }
                    #expect(error?.problem == "the host sends less than 1000000 bytes per second")
                }
            }
        }
    }

    /// The reader may be slow: only waiting for the host counts.
    @Test func slowReaderIsNotTreatedAsSlowHost() async throws {
        let content = [UInt8](repeating: 7, count: 300_000)
        let head = Step.send("\(Self.ok)Content-Length: \(content.count)\r\n\r\n")
        // On a busy machine even this host may be too slow for a short window.
        for window: Duration in [.milliseconds(100), .seconds(1), .seconds(10)] {
            var limits = TransportLimits.testing
            limits.grace = .zero
            limits.window = window
            // All bytes together are too few even for the shortest window.
            limits.bytesPerSecond = 10_000_000
            let transport = HTTPTransport(limits: limits)
            let received = try await withFaultServer(head, .bytes(content)) { server -> Int? in
                var received = 0
                do {
                    let body = try await transport.get(TransportRequest(server.location())).whole
                    for try await chunk in body {
                        received += chunk.count
                        guard received == chunk.count else { continue }
                        #expect(received < content.count, "nothing comes after the pause")
                        // A whole window, if it counted.
                        try await Task.sleep(for: window)
                    }
                } catch let error as VaultError where error.problem.hasSuffix("bytes per second") {
                    return nil
                }
                return received
            }
            guard let received else { continue }
            #expect(received == content.count)
            return
        }
        Issue.record("the pause of the reader counts")
    }

    /// All that the host sent before it closed the connection reaches a reader that takes it only afterwards.
    @Test(arguments: [false, true]) func slowReaderGetsAllThatAClosingHostSent(secure: Bool) async throws {
        let content = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 / 251) }
        let head = Step.send("\(Self.ok)Content-Length: \(content.count + 1)\r\n\r\n")
        try await withAuthority { authority in
            try await withFaultServer(secure: secure, always: [head, .bytes(content), .close]) { server in
                let transport = HTTPTransport(limits: .testing, certificateAuthorities: authority)
                var request = TransportRequest(try server.location())
                request.limit = 2 << 20
                var received: [UInt8] = []
                let body = try await transport.get(request).whole
                let error = await failure {
                    for try await chunk in body {
                        if received.isEmpty {
                            while server.closed == 0 { try await Task.sleep(for: .milliseconds(5)) }
                        }
                        received += chunk
                    }
                }
                #expect(error?.category == .unavailable)
                #expect(received.count == content.count)
                let isSame = received == content
                #expect(isSame)
            }
        }
    }

    /// A request after that has a connection of its own.
    @Test(arguments: [false, true]) func aHostClosesAConnectionBetweenResponses(secure: Bool) async throws {
        let steps: [Step] = [
            .send("\(Self.ok)Content-Length: 5\r\n\r\nhello"), .pause(.milliseconds(20)), .close,
        ]
        try await withAuthority { authority in
            try await withFaultServer(secure: secure, always: steps) { server in
                let transport = HTTPTransport(limits: .testing, certificateAuthorities: authority)
                for number in 1...10 {
                    // The client may learn of the end after the host: then a later request succeeds.
                    var bytes: [UInt8]?
                    while bytes == nil { bytes = try? await transport.bytes(at: server.location(), limit: 5) }
                    #expect(bytes == Array("hello".utf8))
                    while server.closed < number { try await Task.sleep(for: .milliseconds(5)) }
                }
            }
        }
    }

    @Test func silentHostTimesOut() async throws {
        var limits = TransportLimits.testing
        limits.idle = .milliseconds(200)
        try await withFaultServer(.send("\(Self.ok)Content-Length: 100\r\n\r\nhalf"), .hang) { server in
            let error = await failure {
                _ = try await fetch(TransportRequest(server.location()), limits: limits)
            }
            #expect(error?.category == .unavailable)
            #expect(error?.problem == "the host stopped sending")
        }
    }

    @Test(arguments: [
        [Step.hang], [.send(ok), .hang], [.send(ok), .trickle("X: y\r\n", .milliseconds(20))],
    ])
    func endlessHeadTimesOut(steps: [Step]) async throws {
        var limits = TransportLimits.testing
        limits.response = .milliseconds(300)
        try await withFaultServer(always: steps) { server in
            let error = await failure {
                _ = try await fetch(TransportRequest(server.location()), limits: limits)
            }
            #expect(error?.category == .unavailable)
            #expect(error?.problem == "the host did not respond in time")
        }
    }

    @Test(arguments: [
        "", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    ])
    func invalidHTTPIsReported(text: String) async throws {
        try await withFaultServer(.send(text), .close) { server in
            let error = await failure { _ = try await fetch(TransportRequest(server.location())) }
            #expect(error?.category == .unavailable)
        }
    }

    @Test func refusedConnectionIsReported() async throws {
        // Where nobody listens. A port that is free again may be another test's by now.
        let location = try SiteLocation("http://localhost:1/file")
        let error = await failure { _ = try await fetch(TransportRequest(location)) }
        #expect(error?.category == .unreachable)
        #expect(error?.problem.contains("Connection refused") == true, "\(String(describing: error))")
    }

    @Test func cancellationStopsWaiting() async throws {
        for steps in [[Step.hang], [.send("\(Self.ok)Content-Length: 100\r\n\r\nhalf"), .hang]] {
            try await withFaultServer(always: steps) { server in
                let request = TransportRequest(try server.location())
                let task = Task { try await fetch(request) }
                while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
                task.cancel()
                let error = await failure { _ = try await task.value }
                #expect(error?.problem == "the transfer was cancelled")
            }
        }
    }

    @Test func releasedBodyEndsItsTransfer() async throws {
        try await withFaultServer(.send("\(Self.ok)\r\n"), .endlessly(Array(repeating: 7, count: 1 << 16))) {
            server in
            let transport = HTTPTransport()
            var request = TransportRequest(try server.location())
            request.limit = .max
            // One body is never read, one only in part.
            _ = try await transport.get(request)
            for try await _ in try await transport.get(request).whole { break }
            while server.closed < 2 { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    @Test func slowReaderSlowsTheHost() async throws {
        try await withFaultServer(.send("\(Self.ok)\r\n"), .endlessly(Array(repeating: 7, count: 1 << 20))) {
            server in
            var request = TransportRequest(try server.location())
            request.limit = .max
            let body = try await HTTPTransport().get(request).whole
            var chunks = body.makeAsyncIterator()
            _ = try await chunks.next()
            try await Task.sleep(for: .seconds(1))
            // At most the system's buffers, not gigabytes.
            #expect(server.sent < 64 << 20)
        }
    }

    @Test func bodyCanBeReadOnce() async throws {
        try await withFaultServer(.send("\(Self.ok)Content-Length: 5\r\n\r\nhello")) { server in
            let body = try await HTTPTransport().get(TransportRequest(server.location())).whole
            #expect(try await body.collected().count == 5)
            #expect(await failure { _ = try await body.collected() }?.category == .usage)
        }
    }
}
