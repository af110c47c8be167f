import FaultServer
import Foundation
import StrictJSON
import Testing

/// Which tags the packs of a team may have: those that the site grants, after its own packs.
@Suite(.timeLimit(.minutes(5))) struct TeamTagTests {
    let studio: Studio
    private var testSite: TestSite { studio.testSite }
    private var folder: TemporaryFolder { studio.folder }

    /// Both packs have a file `file`, and the tag `both`; the team's claims to be the first, and has a second tag.
    init() async throws { studio = try await Studio() }

    /// Tags are in one form (NFC): a record of a later format that states another has no tag that looks like the studio's.
    @Test func aTagInAnotherForm() async throws {
        try testSite.settings {
            $0["packs"] = ["level": ["source": .string(folder["level"]), "tags": ["\u{E9}tude"]]]
        }
        try await studio.forgeTeam(version: 2) { signed in
            var targets = signed["targets"]?.members ?? [:]
            for (path, target) in targets {
                guard var record = target.members else { continue }
                record["custom"] = ["assetvault": ["format": 1_000, "tags": ["e\u{301}tude"]]]
                targets[path] = .object(record)
            }
            signed["targets"] = .object(targets)
        }
        try studio.grant(["e*"])
        try await testSite.publish()
        let site: JSONValue = try folder.json(
            "vault/site/metadata/\(await testSite.newestFile(of: "dlc1"))")
        #expect(site["signed", "targets", "packs/dlc1/one.avpack", "custom", "assetvault", "format"] != nil)
        for tag in ["\u{E9}tude", "e\u{301}tude"] {
            let store = folder["tag-\(tag.utf8.count)"]
            #expect(try await studio.fetched("--tag", tag, into: store) == ["level"])
        }
    }

    @Test(arguments: [nil, 16] as [Int64?]) func aGrantedTag(bins: Int64?) async throws {
        _ = try await studio.publish(bins: bins)
        let before = try Tree("\(testSite.site)/metadata")
        // Only the grant changes: the targets are signed again, once.
        let published = try await studio.publish(granting: ["both", "their?", "dlc1-*"], bins: bins)
        #expect(!published.errorText.contains("count for nothing"))
        let trust = try await Command.run("trust", "show", testSite.site, "--trust", testSite.root)
            .succeeded()
        #expect(trust.text.contains("  tags: both, their?, dlc1-*"), "\(trust.text)")
        #expect(try Tree("\(testSite.site)/metadata") != before)
        let after = try Tree("\(testSite.site)/metadata")
        try await testSite.publish()
        #expect(try Tree("\(testSite.site)/metadata") == after)
        #expect(try await studio.fetched("--tag", "both", into: folder["tag"]) == ["dlc1/one", "level"])
        #expect(try await studio.fetched("--tag", "theirs", into: folder["theirs"]) == ["dlc1/one"])
        // The site's own file counts, whatever the orders say; after a restart, without the site too.
        for isOnline in [true, false] {
            let result = try await studio.access("both", in: folder["tag"], isOnline: isOnline)
            #expect(result.text == "the studio's", "\(result.errorText)")
        }
        // Other TUF clients ignore the member.
        try await Judge.run(
            testSite.site, root: testSite.root, target: "packs/dlc1/one.avpack", into: folder["judged"]
        ).succeeded()
        // What is granted no more counts for nothing from the next refresh on.
        _ = try await studio.publish(granting: [], bins: bins)
        #expect(try await studio.fetched("--tag", "both", into: folder["tag"]).contains("level"))
        let result = try await studio.access("theirs", in: folder["tag"])
        result.failed(67, naming: "theirs")
    }

    /// A team's pack does not lower the priority of a tag that the studio's packs have.
    @Test func thePreservationOfATag() async throws {
        func resources(_ folder: String, _ preservation: Int64, _ tags: [JSONValue]) -> JSONValue {
            [
                "source": .string(folder), "rules": [["paths": "*", "tags": .array(tags)]],
                "preservation": .object(
                    JSONObject(lastWins: tags.map { ($0.text ?? "", .integer(preservation)) })),
            ]
        }
        var team: JSONObject = try folder.json("team/vault.json")
        team["packs"] = [:]
        team["resources"] = ["dlc1/game": resources(folder["one"], 10, ["both", "theirs"])]
        try folder.write("team/vault.json", JSONValue.object(team).pretty())
        try await studio.publishTeam()
        try testSite.settings {
            $0["packs"] = [:]
            $0["bins"] = 4
            $0["resources"] = ["game": resources(folder["level"], 80, ["both"])]
            $0["teams"] = [
                "dlc1": [
                    "paths": ["packs/dlc1/*/*"], "keys": ["../team/dlc1.pub.pem"], "site": "../team/site",
                ]
            ]
        }
        try studio.grant(["both", "theirs"])
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        let priorities = try await Command.run("preserve", "both", "theirs", "--store", testSite.store)
        #expect(priorities.text == "0.8  both\n0.1  theirs\n", "\(priorities.errorText)")

        // A host that withholds the bin of the studio's pack does not lower it either.
        try folder.write("level/file", "new")
        try await testSite.publish()
        let server = try FaultServer(testSite.site) { $0.path.contains("/2.packs-") ? .status(404) : .file }
        _ = try await testSite.fetch(server.url)
        try #require(server.exchanges.contains { $0.request.path.contains("/2.packs-") })
        let kept = try await Command.run("preserve", "both", "theirs", "--store", testSite.store)
        #expect(kept.text == "0.8  both\n0.1  theirs\n", "\(kept.errorText)")
        let fresh = folder["fresh"]
        _ = try await testSite.fetch(server.url, into: fresh)
        let unknown = try await Command.run("preserve", "both", "--store", fresh)
        #expect(unknown.text == "0.5  both\n", "\(unknown.errorText)")
    }
}
