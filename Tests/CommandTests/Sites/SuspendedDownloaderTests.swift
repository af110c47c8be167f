import FaultServer
import Foundation
import Sampling
import Testing

/// A downloader that is stopped in the middle of a pack, as a system does with what runs in the background: the app goes on
/// with what is there, and the store is whole when the downloader wakes up.
@Suite(.timeLimit(.minutes(2))) struct SuspendedDownloaderTests {
    let world: World

    init() async throws {
        world = try await World("level") { try $0.write("level/noise", Bytes.random(8 << 20, seed: 1)) }
    }

    @Test(arguments: [true, false]) func theAppGoesOn(wakesUpFirst: Bool) async throws {
        let isFast = Counter()
        let server = try FaultServer(world.site) { request in
            guard request.isForPack, request.earlier > 0, isFast.count == 0 else { return .file }
            return .changed { $0.pace = (64 << 10, .milliseconds(50)) }
        }
        try await world.whileRunning("downloader \(server.url) $STORE $TRUST --request install") { process in
            try await wait(for: "the download") { try world.partialBytes() >= 2 << 20 }
            process.send(SIGSTOP)
            defer { process.send(SIGCONT) }
            _ = isFast.next()
            let before = server.packs.count
            try await world.fetch(from: server.url).succeeded()
            try await world.expectLoaded("level")
            let sent = server.packs.dropFirst(before).reduce(0) { $0 + $1.bodyBytes }
            #expect(sent < 7 << 20, "what came is not sent again: \(sent)")
            if !wakesUpFirst { process.send(SIGKILL) }
        }
        let status = try await world.status()["level"]
        #expect(status?.state == "loaded" && status?.waitingVersion == nil)
        try await world.fetch(from: server.url).succeeded()
        #expect(try world.files(in: "ephemeral") == [])
        #expect(try world.files(in: "shared").filter { $0.hasSuffix(".avpack") } == [])
        try await world.expectLoaded("level")
        #expect(try await world.status()["level"]?.state == "loaded")
    }
}
