import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import DevelopmentServer

/// The bad networks that an app may be tried with.
@Suite(.timeLimit(.minutes(2))) struct NetworkConditionTests {
    /// A site with a pack of 100,000 bytes and a timestamp.
    private func withSite(
        _ change: (inout NetworkConditions) -> Void,
        _ body: @escaping @Sendable (_ port: Int, _ root: URL) async throws -> Void
    ) async throws {
        var conditions = NetworkConditions()
        change(&conditions)
        try await withFolder { [conditions] root in
            try FileManager.default.createDirectory(
                at: root.appending(path: "metadata"), withIntermediateDirectories: true)
            try Data("old".utf8).write(to: root.appending(path: "metadata/timestamp.json"))
            try makeSparseFile(at: root.appending(path: "a.avpack"), size: 100_000)
            try await withServer(root, conditions) { port in try await body(port, root) }
        }
    }

    @Test func responsesAreCut() async throws {
        try await withSite {
            $0.failAfter = 1000
        } _: { port, _ in
            let reply = try await ask(port, "/a.avpack")
            #expect(reply.headers["content-length"] == "100000" && reply.body.count == 1000)
            #expect(try await ask(port, "/metadata/timestamp.json").body.count == 3)
        }
    }

    @Test func packsAreTruncated() async throws {
        try await withSite {
            $0.truncation = 10
        } _: { port, _ in
            let reply = try await ask(port, "/a.avpack")
            #expect(reply.headers["content-length"] == "99990" && reply.body.count == 99_990)
            #expect(try await ask(port, "/a.avpack", [("Range", "bytes=99995-")]).status == 416)
        }
    }

    @Test func theTimestampStaysOld() async throws {
        try await withSite {
            $0.isStale = true
        } _: { port, root in
            try Data("new".utf8).write(to: root.appending(path: "metadata/timestamp.json"), options: .atomic)
            #expect(try await ask(port, "/metadata/timestamp.json").body == Array("old".utf8))
        }
    }

    @Test func nobodyCanConnect() async throws {
        try await withSite {
            $0.offlineAfter = .zero
        } _: { port, _ in
            await expectRefusal(port)
        }
    }

    /// Also connections that are idle, or sending.
    @Test func allConnectionsEnd() async throws {
        try await withSite {
            $0.bytesPerSecond = 10_000
            $0.offlineAfter = .seconds(1)
        } _: { port, _ in
            async let idle = exchange(port, "GET /metadata/timestamp.json HTTP/1.1\r\nHost: x\r\n\r\n")
            // All of it would take ten seconds; where the connection is reset the reply is lost.
            let cut = try? await ask(port, "/a.avpack")
            #expect(cut?.body.count ?? 0 < 50_000)
            _ = try? await idle
            await expectRefusal(port)
        }
    }

    private func expectRefusal(_ port: Int) async {
        await #expect(throws: NIOConnectionError.self) { try await exchange(port, "GET / HTTP/1.1\r\n\r\n") }
    }

    /// The same requests fail with the same seed.
    @Test func requestsFail() async throws {
        func statuses(_ seed: UInt64) async throws -> [Int] {
            let found = Statuses()
            try await withSite {
                ($0.errorRate, $0.seed) = (0.5, seed)
            } _: { port, _ in
                for _ in 0..<20 { found.add(try await ask(port, "/metadata/timestamp.json").status) }
            }
            return found.all
        }
        let first = try await statuses(1)
        #expect(Set(first) == [200, 503])
        #expect(try await statuses(1) == first)
        #expect(try await statuses(2) != first)
    }

    /// All connections share one line.
    @Test func theLineIsSlow() async throws {
        let network = SimulatedNetwork(
            {
                var conditions = NetworkConditions()
                conditions.bytesPerSecond = 1_000_000
                return conditions
            }())
        #expect(network.chunkLength == 50_000)
        _ = network.delay(ofSending: 500_000)
        #expect(network.delay(ofSending: 500_000).nanoseconds > 900_000_000)
        try await withSite {
            $0.bytesPerSecond = 1_000_000
            $0.latency = .milliseconds(20)
        } _: { port, _ in
            let start = ContinuousClock.now
            async let one = ask(port, "/a.avpack")
            async let two = ask(port, "/a.avpack")
            let sizes = try await [one.body.count, two.body.count]
            #expect(sizes == [100_000, 100_000])
            // At least what the rate demands: how much longer it takes is the machine's.
            #expect(ContinuousClock.now - start > .milliseconds(180))
        }
    }
}

private final class Statuses: Sendable {
    private let list = Mutex<[Int]>([])
    var all: [Int] { list.withLock { $0 } }
    func add(_ status: Int) { list.withLock { $0.append(status) } }
}
