import DevelopmentServer
import Foundation
import NIOCore
import NIOPosix
import SystemPackage
import Testing
import VaultBase

@Suite struct ServerLifeTests {
    @Test func connectionServesPipelinedRequests() async throws {
        try await withFolder { root in
            try Data("one".utf8).write(to: root.appending(path: "1"))
            try Data("three".utf8).write(to: root.appending(path: "3"))
            // Pipelined; the second request has a body, the last one closes the connection.
            let requests = """
                GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nGET /!\
                HEAD /3 HTTP/1.1\r\nHost: x\r\n\r\nGET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n
                """
            let text = try await withServer(root) { port in
                String(decoding: try await exchange(port, requests), as: UTF8.self)
            }
            #expect(
                text.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.1) } == ["200", "405", "200", "200"])
            #expect(text.components(separatedBy: "three").count == 2)
            #expect(text.hasSuffix("\r\n\r\nthree"))
        }
    }

    @Test func acceptsHTTP10AndRejectsInvalidRequests() async throws {
        try await withFolder { root in
            try Data("one".utf8).write(to: root.appending(path: "1"))
            try await withServer(root) { port in
                let old = try Reply(parsing: await exchange(port, "GET /1 HTTP/1.0\r\n\r\n"))
                #expect(old.status == 200)
                #expect(old.body == Array("one".utf8))
                let noise = try Reply(parsing: await exchange(port, "\u{1}\u{2}nonsense\r\n\r\n"))
                #expect(noise.status == 400)
            }
        }
    }

    @Test func servesConcurrentRangeRequests() async throws {
        try await withFolder { root in
            let content = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
            try Data(content).write(to: root.appending(path: "big.bin"))
            let wrong = try await withServer(root) { port in
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for client in 0..<100 {
                        group.addTask {
                            let first = client * 7_000
                            let last = first + 300_000
                            let reply = try await ask(port, "/big.bin", [("Range", "bytes=\(first)-\(last)")])
                            return reply.status == 206 && reply.body == Array(content[first...last])
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 0 : 1) }
                }
            }
            #expect(wrong == 0)
        }
    }

    /// A file of 2.5 GB, more than 32 bits, of which clients read only the first bytes.
    @Test func slowClientUsesConstantMemory() async throws {
        try await withFolder { root in
            let size = 5 << 29
            try makeSparseFile(at: root.appending(path: "huge.bin"), size: UInt64(size))
            let before = try residentBytes()
            let after = try await withServer(root) { port in
                let reply = try await ask(port, "/huge.bin", [("Range", "bytes=-3")])
                #expect(reply.headers["content-range"] == "bytes \(size - 3)-\(size - 1)/\(size)")
                var channels: [any Channel] = []
                for _ in 0..<32 { channels.append(try await stalledClient(port, "/huge.bin")) }
                try await Task.sleep(for: .seconds(1))
                let resident = try residentBytes()
                for channel in channels { try await channel.close() }
                return resident
            }
            #expect(after - before < 64 << 20, "\((after - before) >> 20) MiB")
        }
    }

    @Test func cancellationClosesStalledConnections() async throws {
        try await withFolder { root in
            try makeSparseFile(at: root.appending(path: "huge.bin"), size: 1 << 30)
            let (port, client) = try await withServer(root) { port in
                let client = try await stalledClient(port, "/huge.bin")
                // Connections are accepted in order: after this response the stalled one is accepted too.
                _ = try await ask(port, "/none")
                return (port, client)
            }
            // The connection may be closed already.
            try? await client.setOption(.autoRead, value: true).get()
            try await client.closeFuture.get()
            await #expect(throws: (any Error).self) { try await exchange(port, "GET / HTTP/1.1\r\n\r\n") }
        }
    }

    @Test func reportsMissingFolderAndBusyPort() async throws {
        try await withFolder { root in
            try await withServer(root) { port in
                let second = DevelopmentServer(root: FilePath(root.path), port: UInt16(port))
                let taken = await #expect(throws: VaultError.self) { try await second.run { _ in } }
                #expect(taken?.category == .busy)
            }
            let nowhere = DevelopmentServer(root: FilePath("/nonexistent/site"))
            let missing = await #expect(throws: VaultError.self) { try await nowhere.run { _ in } }
            #expect(missing?.category == .missing)
        }
    }
}

/// A client that sends a request and does not read the response.
private func stalledClient(_ port: Int, _ target: String) async throws -> any Channel {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .channelOption(.autoRead, value: false)
        .connect(host: "127.0.0.1", port: port).get()
    try await channel.writeAndFlush(ByteBuffer(string: "GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n"))
    return channel
}

/// The physical memory of this process.
private func residentBytes() throws -> Int {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .ascii).split(separator: " ")[1]
    return try #require(Int(pages)) * 4096
}
