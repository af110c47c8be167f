import FaultServer
import Foundation
import Testing

/// A downloader that is stopped in the middle of a pack, as a system does with what runs in the background: the app goes on
/// with what is there, and the store is whole when the downloader wakes up.
@Suite(.timeLimit(.minutes(2))) struct SuspendedDownloaderTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/noise", Bytes.random(8 << 20, seed: 1))
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    private var downloader: [String] {
        ["--store", testSite.store, "--trust", testSite.root, "--request", "install"]
    }

    /// Bytes downloaded: those that a sparse file holds on disk.
    private func arrived() throws -> Int {
        guard try folder.exists("store/ephemeral") else { return 0 }
        return try folder.names(in: "store/ephemeral").filter { $0.hasSuffix(".part") }.reduce(0) {
            sum, name in
            var status = stat()
            let found = unsafe stat(folder["store/ephemeral/\(name)"], &status)
            return sum + (found == 0 ? Int(status.st_blocks) * 512 : 0)
        }
    }

    @Test(arguments: [true, false]) func theAppGoesOn(wakesUpFirst: Bool) async throws {
        let isFast = Counter()
        let server = try FaultServer(testSite.site) { request in
            guard request.isForPack, request.earlier > 0, isFast.count == 0 else { return .file }
            return .changed { $0.pace = (64 << 10, .milliseconds(50)) }
        }
        try await Command.whileRunning(["downloader", server.url] + downloader) { process in
            while try arrived() < 2 << 20 { try await Task.sleep(for: .milliseconds(5)) }
            process.send(SIGSTOP)
            defer { process.send(SIGCONT) }
            _ = isFast.next()
            let before = server.packs.count
            try await testSite.fetch(server.url).succeeded()
            #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
            let sent = server.packs.dropFirst(before).reduce(0) { $0 + $1.bodyBytes }
            #expect(sent < 7 << 20, "what came is not sent again: \(sent)")
            if !wakesUpFirst { process.send(SIGKILL) }
        }
        let status = try await testSite.status()["level"]
        #expect(status?.state == "loaded" && status?.waitingVersion == nil)
        try await testSite.fetch(server.url).succeeded()
        #expect(try testSite.files(in: "ephemeral") == [])
        #expect(try testSite.files(in: "shared").filter { $0.hasSuffix(".avpack") } == [])
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        #expect(try await testSite.status()["level"]?.state == "loaded")
    }
}
