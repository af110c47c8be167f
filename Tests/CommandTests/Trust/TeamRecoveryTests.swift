import Foundation
import StrictJSON
import Testing

/// A thief of a team's key has taken the last version number that there is, and clients have seen it. With another key of the
/// team's and another one of the snapshot all go on.
struct TeamRecoveryTests {
    static let last: Int64 = (1 << 53) - 1

    let studio: Studio
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        studio = try await Studio()
        (testSite, folder) = (studio.testSite, studio.folder)
    }

    private var thiefs: String { "\(Self.last).dlc1.json" }

    /// The thief's metadata are in the team's site and, as no import would take them now, in the studio's.
    private func steal() async throws {
        try await studio.forgeTeam(version: Self.last)
        try folder.write("vault/site/metadata/\(thiefs)", folder.bytes("team/site/metadata/\(thiefs)"))
        try await testSite.raise([], to: Self.last, listing: ["dlc1": Self.last])
    }

    /// As Trust.md says: a new key of the team's, its next version, then its new public key in the studio's settings.
    private func replaceTheTeamsKey() async throws {
        let key = try await testSite.makeKey("dlc1-new")
        try await Tool.run("cp", key.key, folder["team/keys/dlc1.pem"])
        try await studio.publishTeam()
        try await Tool.run("cp", key.publicKey, folder["team/dlc1.pub.pem"])
    }

    @Test(arguments: [true, false]) func everyReaderRecovers(studioPublishesFirst: Bool) async throws {
        try await steal()
        let readers = try await Readers(of: testSite, pack: "dlc1/one")
        try await testSite.fetch().succeeded()
        // The team has no number left either, until its key is another.
        try folder.write("one/file", "after the theft")
        try await Command.run("publish", studio.team).failed(76, naming: "\(Self.last)", "dlc1.pem")
        try await replaceTheTeamsKey()
        #expect(try folder.exists("team/site/metadata/2.dlc1.json"))

        if studioPublishesFirst {
            let result = try await testSite.publish()
            for part in ["stays at version \(Self.last)", "trust rotate", "snapshot"] {
                #expect(result.errorText.contains(part), "\(result.errorText)")
            }
            // The thief's metadata are ignored; the rest stays valid.
            let fetch = try await testSite.fetch()
            #expect(fetch.exitCode == 76 && fetch.errorText.contains("dlc1"), "\(fetch.errorText)")
            #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        }
        try await testSite.trust("rotate", "snapshot").succeeded()
        #expect(try await testSite.roles()["dlc1"]?.version == 2)
        try await readers.expectBelief(seeing: [Tree(folder["one"])])
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "dlc1/one") == Tree(folder["one"]))
        try await Command.run("audit", testSite.site, "--trust", testSite.root).succeeded()

        // The team's next publication follows on that, whatever the thief left.
        try folder.write("one/file", "the next")
        let report = try await studio.publishTeam()
        #expect(report.text.contains("updated  dlc1/one"), "\(report.text)")
        let before = try Tree("\(studio.team)/site")
        try await studio.publishTeam()
        #expect(try Tree("\(studio.team)/site") == before)
        try await testSite.publish()
        try await readers.expectBelief(seeing: [Tree(folder["one"])])
    }

    /// Clients accept lower versions only when the timestamp's or the snapshot's key is replaced.
    @Test func theSameKeyOfTheSnapshotIsARollback() async throws {
        try await steal()
        try await testSite.fetch().succeeded()
        try await replaceTheTeamsKey()
        try await testSite.publish()
        try folder.write(
            "vault/site/metadata/2.dlc1.json", folder.bytes("team/site/metadata/2.dlc1.json"))
        try await Tool.run("cp", "-r", "\(studio.team)/site/targets", testSite.site)
        try await testSite.raise([], to: Self.last, listing: ["dlc1": 2])
        try await testSite.fetch().failed(76, naming: "dlc1.json", "rollback")
        // A new client has seen no higher version.
        try await testSite.fetch(into: folder["new"]).succeeded()
        #expect(try await testSite.tree(of: "dlc1/one", in: folder["new"]) == Tree(folder["one"]))
    }

    /// A new snapshot key alone allows no older version of a team.
    @Test func anOlderVersionBesideANewKey() async throws {
        try folder.write("one/file", "version 2")
        try await studio.publishTeam()
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        try FileManager.default.removeItem(atPath: folder["team/site/metadata/2.dlc1.json"])
        let result = try await testSite.trust("rotate", "snapshot").succeeded()
        #expect(result.errorText.contains("older than version 2"), "\(result.errorText)")
        #expect(try await testSite.roles()["dlc1"]?.version == 2)
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "dlc1/one") == Tree(folder["one"]))
    }

    /// The site had a thief's version under the team's next number: it is ignored.
    @Test func aVersionNumberUsedByTheThief() async throws {
        let first = try folder.bytes("team/site/metadata/1.dlc1.json")
        try await studio.forgeTeam(version: 2)
        try await testSite.publish()
        try FileManager.default.removeItem(atPath: folder["team/site/metadata/2.dlc1.json"])
        #expect(try folder.bytes("team/site/metadata/1.dlc1.json") == first)
        try folder.write("one/file", "after the theft")
        try await replaceTheTeamsKey()
        try folder.write("level/file", "the studio's second")
        let result = try await testSite.publish()
        #expect(result.errorText.contains("another version 2"), "\(result.errorText)")
        try folder.write("one/file", "once more")
        try await studio.publishTeam()
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "dlc1/one") == Tree(folder["one"]))
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }
}
