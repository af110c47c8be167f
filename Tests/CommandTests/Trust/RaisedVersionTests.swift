import Foundation
import StrictJSON
import Testing

/// A thief of keys uses up the version numbers; the publisher and all clients recover as Trust.md says.
struct RaisedVersionTests {
    static let last: Int64 = (1 << 53) - 1

    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try folder.write("level/file", "version 2")
        try await testSite.publish()
    }

    static let stolen = [["timestamp"], ["snapshot", "timestamp"], ["targets", "snapshot", "timestamp"]]

    /// The thief's metadata are in the publisher's site, too: no next version number is left.
    @Test(arguments: stolen) func theLastVersionIsInThePublishersSite(roles: [String]) async throws {
        try await testSite.raise(roles, to: Self.last)
        try await Tool.run("cp", "-a", testSite.site, folder["thiefs"])
        let readers = try await Readers(of: testSite)
        try await testSite.fetch().succeeded()
        try folder.write("level/file", "version 3")
        try await Command.run("publish", testSite.vault).failed(
            76, naming: "\(Self.last)", "trust rotate", roles == ["timestamp"] ? "timestamp" : "snapshot")
        try await testSite.trust("refresh").failed(76, naming: "\(Self.last)", "trust rotate")
        #expect(try Tree("\(testSite.site)/metadata") == Tree("\(folder["thiefs"])/metadata"))

        for role in roles.filter({ $0 != "targets" }) { try await testSite.trust("rotate", role).succeeded() }
        if roles.contains("targets") { try await testSite.trust("rotate", "targets").succeeded() }
        try await testSite.publish()
        let shown = try await testSite.roles()
        for role in roles { #expect(try #require(shown[role]?.version) < 100, "\(role)") }
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))

        // The next metadata have new numbers, and the thief's are refused.
        try folder.write("level/file", "version 4")
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        try await testSite.fetch(folder["thiefs"]).failed(76)
        try await Tool.run("cp", "-a", testSite.site, folder["mixed"])
        try folder.write("mixed/metadata/timestamp.json", folder.bytes("thiefs/metadata/timestamp.json"))
        try await testSite.fetch(folder["mixed"]).failed(76, naming: "timestamp")
        try await Command.run("audit", testSite.site, "--trust", testSite.root).succeeded()
    }

    /// The thief published at the host; the publisher's own site is unchanged.
    @Test(arguments: stolen) func theLastVersionIsAtTheHost(roles: [String]) async throws {
        try await Tool.run("cp", "-a", testSite.site, folder["own"])
        try await testSite.raise(roles, to: Self.last)
        try await testSite.fetch().succeeded()
        try await Tool.run("rm", "-r", testSite.site)
        try await Tool.run("mv", folder["own"], testSite.site)

        // Without new keys it is a rollback.
        try folder.write("level/file", "version 3")
        try await testSite.publish()
        try await testSite.fetch().failed(76, naming: "rollback")
        for role in roles.reversed() { try await testSite.trust("rotate", role).succeeded() }
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        try await testSite.fetch(into: folder["new"]).succeeded()
    }

    /// The numbers of targets begin again only together with those of snapshots; the order of the commands doesn't matter.
    @Test func targetsWaitForTheSnapshotsKey() async throws {
        try await testSite.raise(["targets"], to: Self.last)
        try await testSite.fetch().succeeded()
        try await testSite.trust("rotate", "targets").failed(
            76, naming: "\(Self.last)", "trust rotate", "snapshot")
        try await testSite.fetch().succeeded()
        try await testSite.trust("rotate", "snapshot").succeeded()
        let shown = try await testSite.roles()
        #expect(shown["targets"]?.version == 3 && shown["root"]?.version == 2)
        try folder.write("level/file", "version 3")
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    /// The targets' key is offline: all changes wait for it, so no client sees the new root without lower versions.
    @Test func theTargetsKeyIsOffline() async throws {
        try await testSite.raise(["targets"], to: Self.last)
        try await testSite.fetch().succeeded()
        let key = try testSite.takeAway("targets.pem")
        try await testSite.trust("rotate", "snapshot").failed(77, naming: "3.targets.json")
        #expect(try await testSite.roles()["root"]?.version == 1)
        try await Command.run("trust", "sign", folder["vault/pending/3.targets.json"], "--key", key)
            .succeeded()
        try await testSite.publish()
        #expect(try await testSite.roles()["targets"]?.version == 3)
        try await testSite.fetch().succeeded()
    }

    /// Both keys are replaced by one root, which waits for its own key.
    @Test func theRootKeyIsOffline() async throws {
        try await testSite.raise(["snapshot", "timestamp"], to: Self.last)
        try await testSite.fetch().succeeded()
        let before = try await testSite.roles()
        let key = try testSite.takeAway("root.pem")
        try await testSite.trust("rotate", "snapshot").succeeded()
        try await testSite.trust("rotate", "timestamp").succeeded()
        #expect(try testSite.pending() == ["2.root.json"])
        try folder.write("level/file", "version 3")
        try await Command.run("publish", testSite.vault).failed(
            76, naming: "pending/2.root.json", "trust sign")
        try await Command.run("trust", "sign", folder["vault/pending/2.root.json"], "--key", key).succeeded()
        try await testSite.publish()
        let after = try await testSite.roles()
        for role in ["snapshot", "timestamp"] {
            #expect(try #require(after[role]).keys.isDisjoint(with: #require(before[role]).keys), "\(role)")
            #expect(try #require(after[role]?.version) < 100)
        }
        try await testSite.fetch().succeeded()
    }

    /// A runner without the whole site can't know which numbers are free.
    @Test func aRunnerWithoutTheSiteRefuses() async throws {
        try await testSite.raise(["snapshot"], to: Self.last)
        let runner = try await Runner(of: testSite)
        try folder.write("level/file", "version 3")
        try await runner.publish(runner.host).failed(76, naming: "\(Self.last)", "whole site/")
        #expect(try runner.written().filter { $0.hasPrefix("metadata") } == [])
    }

    /// An older site is no newer for its lower number under the new root; nor is the thief's.
    @Test func anOlderSiteAfterTheRecovery() async throws {
        try await Tool.run("cp", "-a", testSite.site, folder["backup"])
        try await testSite.raise(["timestamp"], to: Self.last)
        try await Tool.run("cp", "-a", testSite.site, folder["thiefs"])
        try await testSite.trust("rotate", "timestamp").succeeded()
        for old in ["backup", "thiefs"] {
            try await Tool.run("rm", "-r", testSite.site)
            try await Tool.run("cp", "-a", folder[old], testSite.site)
            try await Command.run("publish", testSite.vault).failed(76, naming: "was published from here")
        }
    }

    /// A client that is killed while it follows to the new root succeeds the next time.
    @Test func aClientKilledWhileFollowingTheRoot() async throws {
        try await testSite.raise(["snapshot"], to: Self.last)
        try await testSite.fetch().succeeded()
        try await testSite.trust("rotate", "snapshot").succeeded()
        var kills = 0
        for number in 1...40 {
            let store = folder["killed-\(number)"]
            try await Tool.run("cp", "-a", testSite.store, store)
            let killed = try await testSite.fetch(into: store, through: Killing.at("fsync", number: number))
            try #require(killed.exitCode == 0 || killed.exitCode == 137, "\(killed.errorText)")
            try await testSite.fetch(into: store).succeeded()
            if killed.exitCode == 0 { break }
            kills += 1
        }
        #expect(kills > 4)
    }
}
