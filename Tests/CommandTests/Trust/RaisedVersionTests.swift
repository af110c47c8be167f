import Testing
import VaultBase

/// A thief of keys uses up the version numbers; the publisher and all clients recover as Trust.md says.
struct RaisedVersionTests {
    static let last: Int64 = (1 << 53) - 1

    let world: World

    init() async throws {
        world = try await World(level: "version 1")
        try await world.publish(level: "version 2")
    }

    static let stolen = [["timestamp"], ["snapshot", "timestamp"], ["targets", "snapshot", "timestamp"]]

    /// The thief's metadata are in the publisher's site, too: no next version number is left.
    @Test(arguments: stolen) func theLastVersionIsInThePublishersSite(roles: [String]) async throws {
        try await world.raise(roles, to: Self.last)
        try await world.copy("vault/site", to: "thiefs")
        let readers = try await Readers(of: world)
        try await world.fetch().succeeded()
        try world.write("level/file", "version 3")
        try await world.run("publish $VAULT").failed(
            76, naming: "\(Self.last)", "trust rotate", roles == ["timestamp"] ? "timestamp" : "snapshot")
        try await world.trust("refresh").failed(76, naming: "\(Self.last)", "trust rotate")
        #expect(try Tree("\(world.site)/metadata") == Tree("\(world["thiefs"])/metadata"))

        for role in roles.filter({ $0 != "targets" }) { try await world.trust("rotate \(role)").succeeded() }
        if roles.contains("targets") { try await world.trust("rotate targets").succeeded() }
        try await world.publish()
        let shown = try await world.roles()
        for role in roles { #expect(try #require(shown[role]?.version) < 100, "\(role)") }
        try await readers.expectBelief(seeing: [Tree(world["level"])])
        try await world.fetch().succeeded()
        try await world.expectLoaded("level")

        // The next metadata have new numbers, and the thief's are refused.
        try await world.publish(level: "version 4")
        try await world.fetch().succeeded()
        try await world.expectLoaded("level")
        try await world.fetch(from: world["thiefs"]).failed(76)
        try await world.copy("vault/site", to: "mixed")
        try world.write("mixed/metadata/timestamp.json", world.bytes("thiefs/metadata/timestamp.json"))
        try await world.fetch(from: world["mixed"]).failed(76, naming: "timestamp")
        try await world.run("audit $SITE $TRUST").succeeded()
    }

    /// The thief published at the host; the publisher's own site is unchanged.
    @Test(arguments: stolen) func theLastVersionIsAtTheHost(roles: [String]) async throws {
        try await world.copy("vault/site", to: "own")
        try await world.raise(roles, to: Self.last)
        try await world.fetch().succeeded()
        try await Tool.run("rm", "-r", world.site)
        try await Tool.run("mv", world["own"], world.site)

        // Without new keys it is a rollback.
        try await world.publish(level: "version 3")
        try await world.fetch().failed(76, naming: "rollback")
        for role in roles.reversed() { try await world.trust("rotate \(role)").succeeded() }
        try await world.fetch().succeeded()
        try await world.expectLoaded("level")
        try await world.fetch(into: world["new"]).succeeded()
    }

    /// The numbers of targets begin again only together with those of snapshots; the order of the commands doesn't matter.
    @Test func targetsWaitForTheSnapshotsKey() async throws {
        try await world.raise(["targets"], to: Self.last)
        try await world.fetch().succeeded()
        try await world.trust("rotate targets").failed(
            76, naming: "\(Self.last)", "trust rotate", "snapshot")
        try await world.fetch().succeeded()
        try await world.trust("rotate snapshot").succeeded()
        let shown = try await world.roles()
        #expect(shown["targets"]?.version == 3 && shown["root"]?.version == 2)
        try await world.publish(level: "version 3")
        try await world.fetch().succeeded()
        try await world.expectLoaded("level")
    }

    /// The targets' key is offline: all changes wait for it, so no client sees the new root without lower versions.
    @Test func theTargetsKeyIsOffline() async throws {
        try await world.raise(["targets"], to: Self.last)
        try await world.fetch().succeeded()
        let key = try world.takeAway("targets.pem")
        try await world.trust("rotate snapshot").failed(77, naming: "3.targets.json")
        #expect(try await world.roles()["root"]?.version == 1)
        try await world.sign(world["vault/pending/3.targets.json"], with: key)
        try await world.publish()
        #expect(try await world.roles()["targets"]?.version == 3)
        try await world.fetch().succeeded()
    }

    /// Both keys are replaced by one root, which waits for its own key.
    @Test func theRootKeyIsOffline() async throws {
        try await world.raise(["snapshot", "timestamp"], to: Self.last)
        try await world.fetch().succeeded()
        let before = try await world.roles()
        let key = try world.takeAway("root.pem")
        try await world.trust("rotate snapshot").succeeded()
        try await world.trust("rotate timestamp").succeeded()
        #expect(try world.pending() == ["2.root.json"])
        try world.write("level/file", "version 3")
        try await world.run("publish $VAULT").failed(
            76, naming: "pending/2.root.json", "trust sign")
        try await world.sign(world["vault/pending/2.root.json"], with: key)
        try await world.publish()
        let after = try await world.roles()
        for role in ["snapshot", "timestamp"] {
            #expect(try #require(after[role]).keys.isDisjoint(with: #require(before[role]).keys), "\(role)")
            #expect(try #require(after[role]?.version) < 100)
        }
        try await world.fetch().succeeded()
    }

    /// A runner without the whole site can't know which numbers are free.
    @Test func aRunnerWithoutTheSiteRefuses() async throws {
        try await world.raise(["snapshot"], to: Self.last)
        let runner = try await Runner(of: world)
        try world.write("level/file", "version 3")
        try await runner.publish().failed(76, naming: "\(Self.last)", "whole site/")
        #expect(try runner.written().filter { $0.hasPrefix("metadata") } == [])
    }

    /// An older site is no newer for its lower number under the new root; nor is the thief's.
    @Test func anOlderSiteAfterTheRecovery() async throws {
        try await world.copy("vault/site", to: "backup")
        try await world.raise(["timestamp"], to: Self.last)
        try await world.copy("vault/site", to: "thiefs")
        try await world.trust("rotate timestamp").succeeded()
        for old in ["backup", "thiefs"] {
            try world.remove("vault/site")
            try await world.copy(old, to: world.site)
            try await world.run("publish $VAULT").failed(76, naming: "was published from here")
        }
    }

    /// A client that is killed while it follows to the new root succeeds the next time.
    @Test func aClientKilledWhileFollowingTheRoot() async throws {
        try await world.raise(["snapshot"], to: Self.last)
        try await world.fetch().succeeded()
        try await world.trust("rotate snapshot").succeeded()
        let kills = try await Killing.atEach("fsync", 1...40, isAlwaysCalled: false) { number, wrapper in
            let store = world["killed-\(number)"]
            try await world.copy("store", to: store)
            let killed = try await world.fetch(into: store, through: wrapper)
            try await world.fetch(into: store).succeeded()
            return killed
        }
        #expect(kills > 4)
    }
}
