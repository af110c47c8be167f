import FaultServer
import Foundation
import Testing

/// Two processes of which one decides something while the other is at work: the later decision counts.
@Suite(.timeLimit(.minutes(5))) struct CrossedDecisionTests {
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

    /// Whoever made a version live, and died before it was recorded, had decided.
    @Test(arguments: [[], ["--sealed"]]) func whatBecameLiveIsNotTakenBack(form: [String]) async throws {
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

    /// A download that waits for its turn does not bring back what the app removes meanwhile.
    @Test func whatIsRemovedMeanwhileStaysAway() async throws {
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

    /// Who opens what waits decides by the metadata that let it wait, whatever somebody else has begun meanwhile.
    @Test func whatWaitedDoesNotReplaceWhatIsNewer() async throws {
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

    /// A download that another process is at has not failed.
    @Test func whatIsBusyHasNotFailed() async throws {
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

    /// The publisher took a version back that waits for its key: it is not opened any more.
    @Test func aVersionThatWasTakenBackDoesNotWait() async throws {
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
