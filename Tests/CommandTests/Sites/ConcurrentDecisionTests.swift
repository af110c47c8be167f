import FaultServer
import Foundation
import Testing

/// Concurrent processes that change the same pack: the later decision counts.
@Suite(.timeLimit(.minutes(5))) struct ConcurrentDecisionTests {
    let workshop: Workshop
    let folder: TemporaryFolder

    init() async throws {
        workshop = try await Workshop()
        folder = workshop.folder
        for id in ["level", "other"] { try folder.write("\(id)/file", "version 1 of \(id)") }
        try await workshop.publish("--pack", "level=\(folder["level"])", "--pack", "other=\(folder["other"])")
    }

    private func publishSecond() async throws {
        for id in ["level", "other"] { try folder.write("\(id)/file", "version 2 of \(id)") }
        try await workshop.publish()
    }

    private func downloader(_ url: String) async throws -> CommandResult {
        try await Command.run(
            "downloader", url, "--request", "update", "--parallel", "1", "--store", workshop.store, "--trust",
            workshop.root)
    }

    /// An activation counts although its process died before recording it.
    @Test(arguments: [[], ["--sealed"]]) func anUnrecordedActivationCounts(form: [String]) async throws {
        try await Tool.run("cp", "-a", workshop.site, folder["old-site"])
        try await publishSecond()
        let gate = Gate()
        let server = try FaultServer(folder["old-site"]) { request in
            if request.isForPack, request.path.contains("level") { gate.pass() }
            return .file
        }
        async let slow = workshop.fetch(server.url, "level")
        do {
            defer { gate.open() }
            try await gate.arrival()
            let words = [
                "fetch", workshop.site, "level", "--store", workshop.store, "--trust", workshop.root,
            ]
            let dead = try await Command.run(words + form + workshop.keys, dyingAt: "versionActivated")
            #expect(dead.exitCode == 137, "\(dead.errorText)")
        }
        try await slow.succeeded()
        #expect(try await workshop.status()["level"]?.version == 2)
    }

    /// A queued download does not restore a pack that the app removes.
    @Test func aPackRemovedDuringItsDownloadStaysRemoved() async throws {
        try await workshop.fetch().succeeded()
        try await publishSecond()
        let gate = Gate()
        let server = try FaultServer(workshop.site) { request in
            if request.isForPack, request.path.contains("level") { gate.pass() }
            return .file
        }
        async let background = downloader(server.url)
        do {
            defer { gate.open() }
            try await gate.arrival()
            try await Command.run("remove", "other", "--store", workshop.store).succeeded()
        }
        try await background.succeeded()
        let status = try await workshop.status()
        #expect(status["level"]?.waitingVersion == 2)
        #expect(status["other"]?.state == "absent" && status["other"]?.waitingVersion == nil)
        try await workshop.fetch().succeeded()
        #expect(try await workshop.status()["other"]?.state == "absent")
        try await workshop.fetch(nil, "other").succeeded()
        try StoreContent(loaded: 2).expect(of: "other", in: workshop.store, "asked for")
    }

    /// Opening a waiting version never replaces a newer one that was staged in between.
    @Test func aWaitingVersionDoesNotReplaceANewerOne() async throws {
        try await workshop.fetch(withKeys: false).succeeded()
        try await publishSecond()
        let words = ["fetch", workshop.site, "level", "--store", workshop.store]
        let dead = try await Command.run(words + workshop.keys, dyingAt: "openingBegan")
        #expect(dead.exitCode == 137, "\(dead.errorText)")
        // The tree of version 1 is written, and not live yet.
        async let slow = Command.run(
            ["unlock", "level", "--store", workshop.store] + workshop.keys,
            through: Sandbox.injecting("delay_enter=8000000", into: "syncfs", number: 1))
        while try !isBeingOpened() { try await Task.sleep(for: .milliseconds(5)) }
        try await Command.run(words + workshop.keys).succeeded()
        #expect(try await workshop.status()["level"]?.version == 2)
        #expect(try isBeingOpened(), "the slow one was faster")
        try await slow.succeeded()
        #expect(try await workshop.status()["level"]?.version == 2)
        try StoreContent(loaded: 2).expect(of: "level", in: workshop.store, "newer")
    }

    private func isBeingOpened() throws -> Bool {
        try workshop.files(in: "permanent/level").contains {
            $0.hasPrefix(".assetvault-") && $0.hasSuffix("/file")
        }
    }

    /// A download by another process is not a failure.
    @Test func aBusyDownloadIsNotAFailure() async throws {
        let gate = Gate()
        let server = try FaultServer(workshop.site) { request in
            if request.isForPack { gate.pass() }
            return .file
        }
        async let first = downloader(server.url)
        do {
            defer { gate.open() }
            try await gate.arrival()
            let second = try await Command.run(
                "downloader", workshop.site, "--request", "update", "--store", workshop.store)
            #expect(second.exitCode == 0, "\(second.errorText)")
            #expect(try await workshop.status()["level"]?.state == "downloading")
        }
        try await first.succeeded()
    }

    /// A version that the publisher withdrew while it waited is not opened.
    @Test func aWithdrawnVersionIsNotOpened() async throws {
        try await workshop.fetch().succeeded()
        try await publishSecond()
        try await workshop.fetch(withKeys: false).succeeded()
        #expect(try await workshop.status()["level"]?.waitingVersion == 2)
        try await Command.run("restore", workshop.vault, "level", "--version", "1").succeeded()
        try await workshop.fetch(withKeys: false).succeeded()
        try StoreContent(loaded: 1).expect(in: workshop.store, "restored")
        try await Command.run(["unlock", "--store", workshop.store] + workshop.keys).succeeded()
        #expect(try await workshop.status()["level"]?.version == 1)
    }
}
