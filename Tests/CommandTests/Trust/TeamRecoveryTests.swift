import Testing
import VaultBase

/// A thief of a team's key has taken the last version number that there is, and clients have seen it. With another key of the
/// team's and another one of the snapshot all go on.
struct TeamRecoveryTests {
    static let last: Int64 = (1 << 53) - 1

    let world: World

    init() async throws { world = try await .withTeam() }

    private var thiefs: String { "\(Self.last).dlc1.json" }

    /// The thief's metadata are in the team's site and, as no import would take them now, in the studio's.
    private func steal() async throws {
        try await world.forgeTeam(version: Self.last)
        try world.write("vault/site/metadata/\(thiefs)", world.bytes("team/site/metadata/\(thiefs)"))
        try await world.raise([], to: Self.last, listing: ["dlc1": Self.last])
    }

    @Test(arguments: [true, false]) func everyReaderRecovers(studioPublishesFirst: Bool) async throws {
        try await steal()
        let readers = try await Readers(of: world, pack: "dlc1/one")
        try await world.fetch().succeeded()
        // The team has no number left either, until its key is another.
        try world.write("one/file", "after the theft")
        try await world.run("publish \(world.team)").failed(76, naming: "\(Self.last)", "dlc1.pem")
        try await world.replaceTeamKey()
        #expect(try world.exists("team/site/metadata/2.dlc1.json"))

        if studioPublishesFirst {
            let result = try await world.publish()
            for part in ["stays at version \(Self.last)", "trust rotate", "snapshot"] {
                #expect(result.errorText.contains(part), "\(result.errorText)")
            }
            // The thief's metadata are ignored; the rest stays valid.
            let fetch = try await world.fetch()
            #expect(fetch.exitCode == 76 && fetch.errorText.contains("dlc1"), "\(fetch.errorText)")
            try await world.expectLoaded("level")
        }
        try await world.trust("rotate snapshot").succeeded()
        #expect(try await world.roles()["dlc1"]?.version == 2)
        try await readers.expectBelief(seeing: [Tree(world["one"])])
        try await world.fetch().succeeded()
        #expect(try await world.tree(of: "dlc1/one") == Tree(world["one"]))
        try await world.run("audit $SITE $TRUST").succeeded()

        // The team's next publication follows on that, whatever the thief left.
        try world.write("one/file", "the next")
        let report = try await world.publishTeam()
        #expect(report.text.contains("updated  dlc1/one"), "\(report.text)")
        let before = try Tree("\(world.team)/site")
        try await world.publishTeam()
        #expect(try Tree("\(world.team)/site") == before)
        try await world.publish()
        try await readers.expectBelief(seeing: [Tree(world["one"])])
    }

    /// Clients accept lower versions only when the timestamp's or the snapshot's key is replaced.
    @Test func theSameKeyOfTheSnapshotIsARollback() async throws {
        try await steal()
        try await world.fetch().succeeded()
        try await world.replaceTeamKey()
        try await world.publish()
        try world.write(
            "vault/site/metadata/2.dlc1.json", world.bytes("team/site/metadata/2.dlc1.json"))
        try await Tool.run("cp", "-r", "\(world.team)/site/targets", world.site)
        try await world.raise([], to: Self.last, listing: ["dlc1": 2])
        try await world.fetch().failed(76, naming: "dlc1.json", "rollback")
        // A new client has seen no higher version.
        try await world.fetch(into: world["new"]).succeeded()
        #expect(try await world.tree(of: "dlc1/one", in: world["new"]) == Tree(world["one"]))
    }

    /// A new snapshot key alone allows no older version of a team.
    @Test func anOlderVersionBesideANewKey() async throws {
        try world.write("one/file", "version 2")
        try await world.publishTeam()
        try await world.publish()
        try await world.fetch().succeeded()
        try world.remove("team/site/metadata/2.dlc1.json")
        let result = try await world.trust("rotate snapshot").succeeded()
        #expect(result.errorText.contains("older than version 2"), "\(result.errorText)")
        #expect(try await world.roles()["dlc1"]?.version == 2)
        try await world.fetch().succeeded()
        #expect(try await world.tree(of: "dlc1/one") == Tree(world["one"]))
    }

    /// The site had a thief's version under the team's next number: it is ignored.
    @Test func aVersionNumberUsedByTheThief() async throws {
        let first = try world.bytes("team/site/metadata/1.dlc1.json")
        try await world.forgeTeam(version: 2)
        try await world.publish()
        try world.remove("team/site/metadata/2.dlc1.json")
        #expect(try world.bytes("team/site/metadata/1.dlc1.json") == first)
        try world.write("one/file", "after the theft")
        try await world.replaceTeamKey()
        try world.write("level/file", "the studio's second")
        let result = try await world.publish()
        #expect(result.errorText.contains("another version 2"), "\(result.errorText)")
        try world.write("one/file", "once more")
        try await world.publishTeam()
        try await world.publish()
        try await world.fetch().succeeded()
        #expect(try await world.tree(of: "dlc1/one") == Tree(world["one"]))
        try await world.expectLoaded("level")
    }
}
