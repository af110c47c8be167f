import FaultServer
import Foundation
import Testing
import VaultBase

/// Hosts that are refused as the base of a publication, without writing anything.
struct HostedPublishRefusalTests {
    let world: World
    let runner: Runner

    init() async throws {
        world = try await World("level") { try $0.write("level/noise", Bytes.random(1 << 20, seed: 1)) }
        runner = try await Runner(of: world)
        try world.write("level/more", "version 2")
    }

    private func refuses(
        _ code: Int32, naming part: String, _ url: String, _ options: Words = "",
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try runner.written()
        try await runner.publish(options, against: url).failed(code, naming: part, at: location)
        #expect(try runner.written() == before, sourceLocation: location)
        #expect(try !runner.hasScratch(), sourceLocation: location)
    }

    private func server(changing file: String, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]) throws
        -> FaultServer
    {
        try FaultServer(runner.host) { request in
            guard request.path.hasSuffix(file) else { return .file }
            return .changed { $0.body = change($0.body) }
        }
    }

    @Test(arguments: ["timestamp.json", "1.snapshot.json", "1.targets.json"])
    func tamperedMetadata(file: String) async throws {
        let server = try server(changing: file) { body in
            var text = String(decoding: body, as: UTF8.self)
            text.replace("\"version\":1", with: "\"version\":2")
            text.replace("\"version\": 1", with: "\"version\": 2")
            return Array(text.utf8)
        }
        try await refuses(76, naming: file, server.url)
    }

    /// A host that has every metadata file: a few files that are not its metadata take their numbers, more are refused, and nothing is kept.
    @Test(arguments: ["targets", "snapshot"]) func unsignedMetadata(role: String) async throws {
        let junk = [UInt8](repeating: 7, count: 1 << 20)
        let server = try FaultServer(runner.host) { request in
            guard request.path.hasSuffix(".\(role).json"), !request.path.hasSuffix("/1.\(role).json") else {
                return .file
            }
            return .bytes(junk, length: junk.count)
        }
        try await refuses(76, naming: "2.\(role).json", server.url, "--dry-run")
        #expect(server.requests.count { $0.contains(".\(role).json") } == 10)
    }

    @Test func aTamperedIndex() async throws {
        let server = try server(changing: ".avpack") { body in
            var body = body
            if !body.isEmpty { body[body.count / 2] ^= 1 }
            return body
        }
        try await refuses(65, naming: "wrong digest", server.url)
    }

    /// An unreadable bin must not count as empty.
    @Test func anUnreadableBin() async throws {
        try world.settings { $0["bins"] = 2 }
        try await world.publish()
        try await Tool.run("cp", "-rT", world.site, runner.host)
        try await world.copy("vault/vault.json", to: "runner/vault/vault.json")
        let server = try FaultServer(runner.host) { $0.path.contains("1.packs-1") ? .status(500) : .file }
        try await refuses(69, naming: "packs-1", server.url)
    }

    /// A tampered piece is ignored: its content is sealed again.
    @Test func aTamperedPieceIsSealedAnew() async throws {
        try world.write("level/prose", (0..<40_000).map { "line \($0)" }.joined(separator: "\n"))
        try await world.publish()
        try await Tool.run("cp", "-rT", world.site, runner.host)
        let server = try FaultServer(runner.host) { request in
            guard request.isForPack, request.start == 64 || request.earlier > 0 else { return .file }
            return .changed { $0.body = [UInt8](repeating: 7, count: $0.body.count) }
        }
        try world.write("level/more", "version 3")
        try await runner.publish("--compression max", against: server.url).succeeded()
        try await runner.upload()
        try await world.run("audit \(runner.host) $KEYS").succeeded()
        try await world.fetch(from: runner.host).succeeded()
        try await world.expectLoaded("level")
    }

    @Test func aPackMissingFromTheHost() async throws {
        let server = try FaultServer(runner.host) { $0.isForPack ? .status(404) : .file }
        try await refuses(72, naming: "the host does not have it", server.url)
        #expect(server.packs.count == 1)
    }

    @Test func transientFailuresAreRetried() async throws {
        let server = try FaultServer(runner.host) {
            $0.isForPack && $0.earlier == 0 ? .cut(after: 20) : .file
        }
        try await runner.publish(against: server.url).succeeded()
        #expect(server.packs.count == 2)
    }

    /// The signed metadata would replace the other publication.
    @Test func aConcurrentPublication() async throws {
        let server = try FaultServer(runner.host) { [site = world.site] request in
            guard request.path.hasSuffix("timestamp.json"), request.earlier > 1,
                let bytes = try? Data(contentsOf: URL(filePath: "\(site)/metadata/timestamp.json"))
            else { return .file }
            return .bytes([UInt8](bytes), length: bytes.count)
        }
        try await world.publish()
        try await runner.publish(against: server.url).failed(75, naming: "another publisher has published")
        #expect(try !runner.written().contains { $0.hasPrefix("metadata") })
    }
}
