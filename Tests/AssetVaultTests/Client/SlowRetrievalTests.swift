import FaultServer
import Synchronization
import SystemPackage
import Testing
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultFileSystem
import VaultHTTP
import VaultSite
import VaultTransport

@testable import AssetVault

/// Hosts that send too slowly: every download ends.
@Suite(.timeLimit(.minutes(5))) struct SlowRetrievalTests {
    let world: World
    let one = PackID.one

    init() async throws { world = try await World.withPacks() }

    private func failure(
        _ change: (inout VaultConfiguration) throws -> Void = { _ in }
    ) async throws -> VaultError? {
        let client = try world.client(change)
        return await #expect(throws: VaultError.self) { try await client.ensureLocalAvailability(of: one) }
    }

    /// 4 MiB/s in each window, from the first one on.
    private func transport(window: Duration) -> SchemeTransport {
        var limits = TransportLimits()
        (limits.bytesPerSecond, limits.window, limits.grace) = (4 << 20, window, .zero)
        return SchemeTransport(HTTPTransport(limits: limits))
    }

    /// 8 bytes a connection are progress, but too little to continue.
    @Test func aFewBytesPerConnection() async throws {
        world.answer { _ in .cut(after: 8) }
        #expect(try await failure()?.category == .unavailable)
        #expect(world.server.packs.count == 5)
        // The same from two mirrors.
        let second = try FaultServer(world.place.vault.site.string) {
            $0.isForPack ? .cut(after: 8) : .file
        }
        let error = try await failure { $0.mirrors = [try SiteLocation(second.url)] }
        #expect(error?.category == .unavailable)
        #expect(world.server.packs.count == 10 && second.packs.count == 5)
    }

    /// A client that gets some bytes from each interrupted connection completes the download.
    @Test func aFlakyHostFinishes() async throws {
        world.answer { _ in .cut(after: 70_000) }
        let client = try world.client()
        try await client.ensureLocalAvailability(of: one)
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
        #expect(world.server.packs.count > 10)
    }

    /// Each window brings enough to make up for a lost connection, and all of them are too slow.
    @Test func alwaysTooSlow() async throws {
        world.answer { _ in .changed { $0.pace = (35_000, .milliseconds(100)) } }
        let error = try await failure { $0.transport = transport(window: .milliseconds(300)) }
        #expect(error?.category == .unavailable)
        #expect(world.server.packs.count <= 6)
        // The bytes are kept.
        world.answer { _ in .file }
        let before = try await world.server.packBytesAtRest
        try await world.client().ensureLocalAvailability(of: one)
        #expect(try await world.server.packBytesAtRest - before < World.one.count)
    }

    /// A copy of the whole site ends, too, whether the host is too slow or ends each connection after a few bytes.
    @Test func copies() async throws {
        let answers: [FaultServer.Answer] = [
            .changed { $0.pace = (2_000, .milliseconds(100)) },
            // Enough to make up for lost connections.
            .changed { $0.pace = (35_000, .milliseconds(100)) }, .cut(after: 8),
        ]
        for answer in answers {
            let before = world.server.packs.count
            world.answer { _ in answer }
            let location = try SiteLocation(world.server.url)
            let copy = SiteMirror(
                of: Site(
                    location,
                    transport: PackTransport(
                        base: SchemeTransport(), packs: transport(window: .milliseconds(300)))),
                in: FilePath(world.place.root).appending("copy"),
                pinnedRoot: try VerifiedRoot(trustedRootFile: world.place.trustedRoot),
                scratch: FilePath(world.place.root),
                now: .now)
            let error = await #expect(throws: VaultError.self) { try await copy.run() }
            #expect(error?.category == .unavailable)
            #expect((2...10).contains(world.server.packs.count - before))
        }
    }

    /// A host that is busy before each few bytes is a slow one, although these bytes reset the count of its failures.
    @Test func pausesCountAsSlow() async throws {
        world.answer { request in
            request.earlier % 2 == 0
                ? .cut(after: 200_000)
                : .changed { reply in
                    reply = FaultServer.Reply(status: 503, body: [])
                    reply.headers["Retry-After"] = "1"
                }
        }
        let error = try await failure {
            $0.transport = transport(window: .milliseconds(900))
            $0.retries.attempts = 3
        }
        #expect(error?.category == .unavailable)
        #expect(world.server.packs.count <= 12)
    }

    /// All metadata of one refresh are measured together, and those of the next by themselves.
    @Test func metadataAreMeasuredAsAWhole() async throws {
        var configuration = try world.configuration()
        let transport = MeasuredTransport(configuration.transport)
        configuration.transport = transport
        let client = try VaultClient(configuration)
        _ = try await client.refresh()
        let first = transport.metadata
        #expect(first.count > 3 && first.allSatisfy { $0 === first.first })
        _ = try await client.refresh()
        #expect(transport.metadata.count > first.count && transport.metadata.last !== first.first)
    }

    /// A mirror that failed too often is skipped, and the working one is used.
    @Test func mirrorFailuresAreCountedSeparately() async throws {
        world.answer { _ in .cut(after: 8) }
        let second = try FaultServer(world.place.vault.site.string) {
            $0.isForPack ? .cut(after: 70_000) : .file
        }
        let client = try world.client { $0.mirrors = [try SiteLocation(second.url)] }
        try await client.ensureLocalAvailability(of: one)
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
        #expect(world.server.packs.count == 5)
    }

    /// A host that sends all from the start each time, and ends a little later each time.
    @Test func repeatedBytesAreLimited() async throws {
        let site = world.place.vault.site.string
        world.answer { request in
            request.earlier == 0
                ? .file
                : .changed { reply in
                    reply = FaultServer.Reply(
                        to: request, in: site, ignoringRange: true)
                    reply.body = Array(reply.body.prefix(140_000 * request.earlier))
                    // What is cut off may be lost before it is counted; the end of the connection is that of this body.
                    reply.headers["Content-Length"] = nil
                }
        }
        let error = try await failure()
        #expect(error?.category == .unavailable)
        #expect(error?.problem.contains("bytes, twice what it needs") == true, "\(String(describing: error))")
        #expect(world.server.packs.count <= 9)
        // The bytes are kept.
        world.answer { _ in .file }
        let before = try await world.server.packBytesAtRest
        try await world.client().ensureLocalAvailability(of: one)
        #expect(try await world.server.packBytesAtRest - before < World.one.count)
    }

    /// How fast a host sends is measured over all its answers for a pack, and those of another mirror by themselves.
    @Test func aHostIsMeasuredAsAWhole() async throws {
        world.answer { _ in .cut(after: 70_000) }
        let second = try FaultServer(world.place.vault.site.string) {
            $0.isForPack ? .cut(after: 8) : .file
        }
        var configuration = try world.configuration()
        configuration.mirrors = [try SiteLocation(second.url)]
        let transport = MeasuredTransport(configuration.transport)
        configuration.transport = transport
        try await VaultClient(configuration).ensureLocalAvailability(of: one)
        for url in [world.server.url, second.url] {
            let meters = transport.meters(of: url)
            #expect(meters.count > 3 && meters.allSatisfy { $0 === meters.first })
        }
        #expect(transport.meters(of: second.url).first !== transport.meters(of: world.server.url).first)
    }

    /// Records the meter of each response.
    private final class MeasuredTransport: Transport {
        private let base: any Transport
        private let seen = Mutex<[(url: String, meter: ThroughputMeter)]>([])

        var metadata: [ThroughputMeter] {
            seen.withLock { $0.filter { $0.url.contains("/metadata/") }.map(\.meter) }
        }

        init(_ base: any Transport) { self.base = base }

        func meters(of url: String) -> [ThroughputMeter] {
            seen.withLock {
                $0.filter { $0.url.hasPrefix(url) && $0.url.hasSuffix(".avpack") }.map(\.meter)
            }
        }

        func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
            let url = request.location.description
            seen.withLock { $0.append((url, request.meter)) }
            return try await base.get(request)
        }
    }

    /// Verified pieces are reported while the host stalls, not only afterwards.
    @Test func progressIsReportedWhileTheHostStalls() async throws {
        world.answer { request in
            request.earlier == 0
                ? .file
                : .changed { reply in
                    reply.body = Array(reply.body.prefix(600_000))
                    reply.ending = [.hang]
                }
        }
        let updates = Updates()
        let downloader = try world.downloader()
        let stalled = Task { try await downloader.run(.install) { updates.add($0) } }
        defer { stalled.cancel() }
        let folder = world.place.vault.site.appending("targets/packs/levels")
        let pack = folder.appending(try #require(try names(in: folder).first))
        let expected = Self.countOfWholePieces(in: try DurableFile.read(pack, limit: 1 << 28), among: 600_000)
        // It stalls for half a minute.
        let deadline = ContinuousClock.now + .seconds(20)
        while updates.bytes < expected, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(updates.bytes == expected)
    }

    /// Header and footer, index and catalog, and the pieces that are whole among the first so many bytes behind the header.
    private static func countOfWholePieces(in pack: [UInt8], among limit: Int) -> Int {
        func integer(_ offset: Int, _ count: Int) -> Int {
            pack[offset..<(offset + count)].reduce(0) { $0 << 8 | Int($1) }
        }
        let footer = pack.count - 128
        let (index, pieces) = (integer(footer, 8), integer(footer + 8, 4))
        var whole = 0
        for piece in 0..<pieces {
            let end = whole + integer(index + 36 * piece, 4)
            if end > limit { break }
            whole = end
        }
        return whole + (footer - index) + 192
    }
}

/// A transport for metadata, and one for packs.
private struct PackTransport: Transport {
    let base: SchemeTransport
    let packs: SchemeTransport

    func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
        let isForPack = request.location.description.hasSuffix(".avpack")
        return try await (isForPack ? packs : base).get(request)
    }
}
