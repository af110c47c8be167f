import DevelopmentServer
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import SystemPackage
import Testing
import VaultBase

/// A temporary folder for one test.
func withFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "serve-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

/// A sparse file of `size` zero bytes.
func makeSparseFile(at place: URL, size: UInt64) throws {
    try Data().write(to: place)
    let file = try FileHandle(forWritingTo: place)
    try file.truncate(atOffset: size)
    try file.close()
}

/// Runs a server over `root` during `body`, which gets the port.
func withServer<R: Sendable>(
    _ root: URL, _ conditions: NetworkConditions = NetworkConditions(),
    _ body: @escaping @Sendable (Int) async throws -> R
) async throws -> R {
    let (ports, ready) = AsyncStream.makeStream(of: Int.self)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            defer { ready.finish() }
            try await DevelopmentServer(root: FilePath(root.path), conditions: conditions).run { url in
                ready.yield(URL(string: url)?.port ?? 0)
            }
        }
        var port = ports.makeAsyncIterator()
        let result = try await body(try #require(await port.next()))
        group.cancelAll()
        try await group.waitForAll()
        return result
    }
}

/// A response as it was received.
struct Reply: Equatable {
    var status = 0
    /// By lowercase name.
    var headers: [String: String] = [:]
    var body: [UInt8] = []

    init(parsing bytes: [UInt8]) throws {
        let end = try #require(bytes.prefix(4096).firstRange(of: Array("\r\n\r\n".utf8)))
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        status = try #require(Int(head[0].split(separator: " ")[1]))
        for line in head.dropFirst() {
            let colon = try #require(line.firstIndex(of: ":"))
            headers[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        body = Array(bytes[end.upperBound...])
    }
}

/// Sends bytes to a local port and returns everything received until the server closes the connection.
func exchange(_ port: Int, _ request: String) async throws -> [UInt8] {
    let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .connect(host: "127.0.0.1", port: port) { channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
    return try await connection.executeThenClose { inbound, outbound in
        try await outbound.write(ByteBuffer(string: request))
        var received: [UInt8] = []
        for try await buffer in inbound { received += Array(buffer.readableBytesView) }
        return received
    }
}

/// One request on a new connection.
func ask(
    _ port: Int, _ target: String, method: String = "GET", _ headers: [(String, String)] = []
) async throws -> Reply {
    let lines = headers.map { "\($0): \($1)\r\n" }.joined()
    return try Reply(
        parsing: await exchange(
            port, "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(lines)\r\n"))
}
