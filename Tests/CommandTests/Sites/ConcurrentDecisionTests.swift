import FaultServer
import Foundation
import Testing

/// Concurrent processes that change the same pack: the later decision counts.
@Suite(.timeLimit(.minutes(5))) struct ConcurrentDecisionTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        for id in ["level", "other"] { try folder.write("\(id)/file", "version 1 of \(id)") }
        try await testSite.publish("--pack", "level=\(folder["level"])", "--pack", "other=\(folder["other"])")
    }

    private func publishSecond() async throws {
        for id in ["level", "other"] { try folder.write("\(id)/file", "version 2 of \(id)") }
        try await testSite.publish()
    }

    private func downloader(_ url: String) async throws -> CommandResult {
        try await Command.run(
            "downloader", url, "--request", "update", "--parallel", "1", "--store", testSite.store, "--trust",
            testSite.root)
    }

    /// An activation counts although its process died before recording it.
    @Test(arguments: [[], ["--sealed"]]) func anUnrecordedActivationCounts(form: [String]) async throws {
        try await Tool.run("cp", "-a", testSite.site, folder["old-site"])
        try await publishSecond()
        let gate = Gate()
        let server = try FaultServer(folder["old-site"]) { request in
            if request.isForPack, request.path.contains("level") { gate.pass() }
            return .file
        }
        async let slow = testSite.fetch(server.url, "level")
        do {
            defer { gate.open() }
            try await gate.arrival()
            let words = [
                "fetch", testSite.site, "level", "--store", testSite.store, "--trust", testSite.root,
            ]
            let dead = try await Command.run(words + form + testSite.keys, dyingAt: "versionActivated")
            #expect(dead.exitCode == 137, "\(dead.errorText)")
        }
        try await slow.succeeded()
        #expect(try await testSite.status()["level"]?.version == 2)
    }

    /// A version that a downloader brought for a process that died keeps the listing that decided on it.
    @Test func aBroughtVersionIsNotReplacedByAnOlderOne() async throws {
        try await Tool.run("cp", "-a", testSite.site, folder["old-site"])
        try await publishSecond()
        let gate = Gate()
        let server = try FaultServer(folder["old-site"]) { request in
            if request.isForPack, request.path.contains("level") { gate.pass() }
            return .file
        }
        async let slow = testSite.fetch(server.url, "level")
        do {
            defer { gate.open() }
            try await gate.arrival()
            let words = [
                "fetch", testSite.site, "level", "--store", testSite.store, "--trust", testSite.root,
            ]
            let dead = try await Command.run(words + testSite.keys, dyingAt: "downloadRecorded")
            #expect(dead.exitCode == 137, "\(dead.errorText)")
            try await downloader(testSite.site).succeeded()
            try await Command.run(["unlock", "level", "--store", testSite.store] + testSite.keys).succeeded()
            #expect(try await testSite.status()["level"]?.version == 2)
        }
        try await slow.succeeded()
        #expect(try await testSite.status()["level"]?.version == 2)
    }

    /// A queued download does not restore a pack that the app removes.
    @Test func aPackRemovedDuringItsDownloadStaysRemoved() async throws {
        try await testSite.fetch().succeeded()
        try await publishSecond()
        let gate = Gate()
        let server = try FaultServer(testSite.site) { request in
            if request.isForPack, request.path.contains("level") { gate.pass() }
            return .file
        }
        async let background = downloader(server.url)
        do {
            defer { gate.open() }
            try await gate.arrival()
            try await Command.run("remove", "other", "--store", testSite.store).succeeded()
        }
        try await background.succeeded()
        let status = try await testSite.status()
        #expect(status["level"]?.waitingVersion == 2)
        #expect(status["other"]?.state == "absent" && status["other"]?.waitingVersion == nil)
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status()["other"]?.state == "absent")
        try await testSite.fetch(nil, "other").succeeded()
        try StoreContent(loaded: 2).expect(of: "other", in: testSite.store, "asked for")
    }

    /// Opening a waiting version never replaces a newer one that was staged in between.
    @Test func aWaitingVersionDoesNotReplaceANewerOne() async throws {
        try await testSite.fetch(withKeys: false).succeeded()
        try await publishSecond()
        let words = ["fetch", testSite.site, "level", "--store", testSite.store]
        let dead = try await Command.run(words + testSite.keys, dyingAt: "openingBegan")
        #expect(dead.exitCode == 137, "\(dead.errorText)")
        // The tree of version 1 is written, and not live yet.
        async let slow = Command.run(
            ["unlock", "level", "--store", testSite.store] + testSite.keys,
            through: Sandbox.injecting("delay_enter=8000000", into: "syncfs", number: 1))
        while !isBeingOpened() { try await Task.sleep(for: .milliseconds(5)) }
        try await Command.run(words + testSite.keys).succeeded()
        #expect(try await testSite.status()["level"]?.version == 2)
        #expect(isBeingOpened(), "the slow one was faster")
        try await slow.succeeded()
        #expect(try await testSite.status()["level"]?.version == 2)
        try StoreContent(loaded: 2).expect(of: "level", in: testSite.store, "newer")
    }

    private func isBeingOpened() -> Bool {
        // Where something is removed while it is read, the caller looks again.
        let files = (try? testSite.files(in: "permanent/level")) ?? []
        return files.contains {
            $0.hasPrefix(".assetvault-") && $0.hasSuffix("/file")
        }
    }

    /// A download by another process is not a failure.
    @Test func aBusyDownloadIsNotAFailure() async throws {
        let gate = Gate()
        let server = try FaultServer(testSite.site) { request in
            if request.isForPack { gate.pass() }
            return .file
        }
        async let first = downloader(server.url)
        do {
            defer { gate.open() }
            try await gate.arrival()
            let second = try await Command.run(
                "downloader", testSite.site, "--request", "update", "--store", testSite.store)
            #expect(second.exitCode == 0, "\(second.errorText)")
            #expect(try await testSite.status()["level"]?.state == "downloading")
        }
        try await first.succeeded()
    }

    /// A version that the publisher withdrew while it waited is not opened.
    @Test func aWithdrawnVersionIsNotOpened() async throws {
        try await testSite.fetch().succeeded()
        try await publishSecond()
        try await testSite.fetch(withKeys: false).succeeded()
        #expect(try await testSite.status()["level"]?.waitingVersion == 2)
        try await Command.run("restore", testSite.vault, "level", "--version", "1").succeeded()
        try await testSite.fetch(withKeys: false).succeeded()
        try StoreContent(loaded: 1).expect(in: testSite.store, "restored")
        try await Command.run(["unlock", "--store", testSite.store] + testSite.keys).succeeded()
        #expect(try await testSite.status()["level"]?.version == 1)
    }
}
