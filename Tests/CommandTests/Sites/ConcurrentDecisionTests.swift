import FaultServer
import Sampling
import Testing

/// Concurrent processes that change the same pack: the later decision counts.
@Suite(.timeLimit(.minutes(5))) struct ConcurrentDecisionTests {
    let world: World

    init() async throws {
        world = try await World("level", "other")
    }

    private func publishSecond() async throws {
        for id in ["level", "other"] { try world.write("\(id)/file", "version 2 of \(id)") }
        try await world.publish()
    }

    /// An activation counts although its process died before recording it.
    @Test(arguments: [[], ["--sealed"]]) func anUnrecordedActivationCounts(form: [String]) async throws {
        try await world.copy("vault/site", to: "old-site")
        try await publishSecond()
        let (host, gate) = try world.gatedHost(of: world["old-site"], for: "level")
        async let slow = world.fetch("level", from: host.url)
        try await gate.whileBlocked {
            let dead = try await world.fetch("level \(form)", dyingAt: "versionActivated")
            #expect(dead.exitCode == 137, "\(dead.errorText)")
        }
        try await slow.succeeded()
        #expect(try await world.status()["level"]?.version == 2)
    }

    /// A version that a downloader brought for a process that died keeps the listing that decided on it.
    @Test func aBroughtVersionIsNotReplacedByAnOlderOne() async throws {
        try await world.copy("vault/site", to: "old-site")
        try await publishSecond()
        let (host, gate) = try world.gatedHost(of: world["old-site"], for: "level")
        async let slow = world.fetch("level", from: host.url)
        try await gate.whileBlocked {
            let dead = try await world.fetch("level", dyingAt: "downloadRecorded")
            #expect(dead.exitCode == 137, "\(dead.errorText)")
            try await world.download("update", "--parallel 1").succeeded()
            try await world.run("unlock level $STORE $KEYS").succeeded()
            #expect(try await world.status()["level"]?.version == 2)
        }
        try await slow.succeeded()
        #expect(try await world.status()["level"]?.version == 2)
    }

    /// A queued download does not restore a pack that the app removes.
    @Test func aPackRemovedDuringItsDownloadStaysRemoved() async throws {
        try await world.fetch().succeeded()
        try await publishSecond()
        let (host, gate) = try world.gatedHost(for: "level")
        async let background = world.download("update", "--parallel 1", from: host.url)
        try await gate.whileBlocked {
            try await world.run("remove other $STORE").succeeded()
        }
        try await background.succeeded()
        let status = try await world.status()
        #expect(status["level"]?.waitingVersion == 2)
        #expect(status["other"]?.state == "absent" && status["other"]?.waitingVersion == nil)
        try await world.fetch().succeeded()
        #expect(try await world.status()["other"]?.state == "absent")
        try await world.fetch("other").succeeded()
        try StoreContent(loaded: 2).expect(of: "other", in: world.store, "asked for")
    }

    /// Opening a waiting version never replaces a newer one that was staged in between.
    @Test func aWaitingVersionDoesNotReplaceANewerOne() async throws {
        try await world.fetch(withKeys: false).succeeded()
        try await publishSecond()
        let dead = try await world.fetch("level", dyingAt: "openingBegan")
        #expect(dead.exitCode == 137, "\(dead.errorText)")
        // The tree of version 1 is written, and not live yet.
        async let slow = world.run(
            "unlock level $STORE $KEYS",
            through: Sandbox.injecting("delay_enter=8000000", into: "syncfs", number: 1))
        try await wait(for: "the tree") { isBeingOpened() }
        try await world.fetch("level").succeeded()
        #expect(try await world.status()["level"]?.version == 2)
        #expect(isBeingOpened(), "the slow one was faster")
        try await slow.succeeded()
        #expect(try await world.status()["level"]?.version == 2)
        try StoreContent(loaded: 2).expect(of: "level", in: world.store, "newer")
    }

    private func isBeingOpened() -> Bool {
        // Where something is removed while it is read, the caller looks again.
        let files = (try? world.files(in: "permanent/level")) ?? []
        return files.contains { $0.hasPrefix(".assetvault-") && $0.hasSuffix("/file") }
    }

    /// A download by another process is not a failure.
    @Test func aBusyDownloadIsNotAFailure() async throws {
        let (host, gate) = try world.gatedHost()
        async let first = world.download("update", "--parallel 1", from: host.url)
        try await gate.whileBlocked {
            let second = try await world.run("downloader $SITE --request update $STORE")
            #expect(second.exitCode == 0, "\(second.errorText)")
            #expect(try await world.status()["level"]?.state == "downloading")
        }
        try await first.succeeded()
    }

    /// A version that the publisher withdrew while it waited is not opened.
    @Test func aWithdrawnVersionIsNotOpened() async throws {
        try await world.fetch().succeeded()
        try await publishSecond()
        try await world.fetch(withKeys: false).succeeded()
        #expect(try await world.status()["level"]?.waitingVersion == 2)
        try await world.run("restore $VAULT level --version 1").succeeded()
        try await world.fetch(withKeys: false).succeeded()
        try StoreContent(loaded: 1).expect(in: world.store, "restored")
        try await world.run("unlock $STORE $KEYS").succeeded()
        #expect(try await world.status()["level"]?.version == 1)
    }
}
