import FaultServer
import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultHTTP
import VaultTransport

@Suite struct FileTransportTests {
    private static let content = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 / 3) }

    @Test func readsWholeFilesAndParts() async throws {
        try await withSite { site, transport in
            let file = try site.appending("dir/file.bin")
            func ask(_ range: ByteRange?) async throws -> TransportResponse {
                try await transport.get(TransportRequest(file, range: range))
            }
            let whole = try await ask(nil).whole
            #expect(whole.length == 700_000)
            #expect(try await whole.collected() == Self.content)
            for (range, first, last) in [
                (ByteRange(5...299_999), 5, 299_999), (ByteRange(699_999...700_000), 699_999, 699_999),
                (ByteRange(10...9_000_000), 10, 699_999), (ByteRange(0...0), 0, 0),
            ] {
                let (found, body) = try await ask(range).part
                #expect((found.first, found.last, found.total) == (UInt64(first), UInt64(last), 700_000))
                #expect(body.length == found.length)
                #expect(try await body.collected() == Array(Self.content[first...last]))
            }
            guard case .outOfRange(total: 700_000) = try await ask(ByteRange(700_000...700_001)) else {
                Issue.record("not out of range")
                return
            }
        }
    }

    @Test func missingFileIsAbsent() async throws {
        try await withSite { site, transport in
            for path in ["missing", "no/folder", "dir/file.bin/x"] {
                guard case .absent = try await transport.get(TransportRequest(site.appending(path))) else {
                    Issue.record("\(path) is there")
                    continue
                }
                #expect(try await transport.bytes(at: site.appending(path), limit: 9) == nil)
            }
            #expect(
                await failure { _ = try await transport.get(TransportRequest(site.appending("dir"))) } != nil)
        }
    }

    @Test func theLimitIsEnforced() async throws {
        try await withSite { site, transport in
            let file = try site.appending("dir/file.bin")
            #expect(try await transport.bytes(at: file, limit: 700_000) == Self.content)
            #expect(
                await failure { _ = try await transport.bytes(at: file, limit: 699_999) }?.category
                    == .corrupt)
            #expect(
                await failure { _ = try await transport.bytes(at: file, limit: -1) }?.category == .corrupt)
        }
    }

    @Test func shrinkingFileIsReported() async throws {
        try await withSite { site, transport in
            let file = try site.appending("dir/file.bin")
            let body = try await transport.get(TransportRequest(file)).whole
            let handle = try FileHandle(forWritingTo: URL(filePath: try #require(file.path).string))
            try handle.truncate(atOffset: 100)
            let error = await failure { _ = try await body.collected() }
            #expect(error?.problem == "the body ended after 100 of 700000 bytes")
        }
    }

    @Test func locationSelectsTheTransport() async throws {
        try await withSite { site, _ in
            let transport = SchemeTransport(HTTPTransport(limits: .testing))
            #expect(
                try await transport.bytes(at: site.appending("dir/file.bin"), limit: 1 << 20) == Self.content)
            try await withFaultServer(.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")) { server in
                let location = try server.location()
                #expect(try await transport.bytes(at: location, limit: 9) == Array("hi".utf8))
                #expect(
                    await failure { _ = try await FileTransport().bytes(at: location, limit: 9) }?.category
                        == .usage)
            }
            #expect(
                await failure { _ = try await HTTPTransport().bytes(at: site, limit: 9) }?.category == .usage)
            await transport.shutdown()
        }
    }

    private func withSite(_ body: (SiteLocation, any Transport) async throws -> Void) async throws {
        try await withFolder { folder in
            let dir = folder.appending(path: "dir")
            try FileManager.default.createDirectory(at: dir, withIntermediateDirectories: true)
            try Data(Self.content).write(to: dir.appending(path: "file.bin"))
            try await body(SiteLocation(path: FilePath(folder.path)), FileTransport())
        }
    }
}
