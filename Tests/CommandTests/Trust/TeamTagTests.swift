import FaultServer
import Testing
import VaultBase

/// Which tags the packs of a team may have: those that the site grants, after its own packs.
@Suite(.timeLimit(.minutes(5))) struct TeamTagTests {
    let world: World

    /// Both packs have a file `file`, and the tag `both`; the team's claims to be the first, and has a second tag.
    init() async throws { world = try await .withTeam() }

    /// The packs that are loaded after a fetch of what has a tag.
    private func fetched(_ tag: String, into store: String) async throws -> [String] {
        try await world.fetch("--tag \(tag)", into: store).succeeded()
        return try await world.loaded(in: store)
    }

    /// Tags are in one form (NFC): a record of a later format that states another has no tag that looks like the studio's.
    @Test func aTagInAnotherForm() async throws {
        try world.tagLevel(["\u{E9}tude"])
        try await world.forgeTeam(version: 2) {
            try $0.change("targets", "packs/dlc1/one.avpack") {
                $0["custom"] = ["assetvault": ["format": 1_000, "tags": ["e\u{301}tude"]]]
            }
        }
        try world.grant(["e*"])
        try await world.publish()
        #expect(
            try await world.newest("dlc1")[
                "signed", "targets", "packs/dlc1/one.avpack", "custom", "assetvault", "format"]
                != nil)
        for tag in ["\u{E9}tude", "e\u{301}tude"] {
            let store = world["tag-\(tag.utf8.count)"]
            #expect(try await fetched(tag, into: store) == ["level"])
        }
    }

    @Test(arguments: [nil, 16] as [Int64?]) func aGrantedTag(bins: Int64?) async throws {
        _ = try await world.publishTagged(bins: bins)
        let before = try Tree("\(world.site)/metadata")
        // Only the grant changes: the targets are signed again, once.
        let published = try await world.publishTagged(granting: ["both", "their?", "dlc1-*"], bins: bins)
        #expect(!published.errorText.contains("have no effect"))
        let trust = try await world.run("trust show $SITE $TRUST").succeeded()
        #expect(trust.text.contains("  tags: both, their?, dlc1-*"), "\(trust.text)")
        #expect(try Tree("\(world.site)/metadata") != before)
        let after = try Tree("\(world.site)/metadata")
        try await world.publish()
        #expect(try Tree("\(world.site)/metadata") == after)
        #expect(try await fetched("both", into: world["tag"]) == ["dlc1/one", "level"])
        #expect(try await fetched("theirs", into: world["theirs"]) == ["dlc1/one"])
        // The site's own file counts, whatever the orders say; after a restart, without the site too.
        for isOnline in [true, false] {
            let result = try await world.access(
                "both", script: "cat \"$ASSETVAULT_RESOURCES/file\"", in: world["tag"], isOnline: isOnline)
            #expect(result.text == "the studio's", "\(result.errorText)")
        }
        // Other TUF clients ignore the member.
        try await Judge.run(
            world.site, root: world.root, target: "packs/dlc1/one.avpack", into: world["judged"]
        ).succeeded()
        // What is granted no more counts for nothing from the next refresh on.
        _ = try await world.publishTagged(granting: [], bins: bins)
        #expect(try await fetched("both", into: world["tag"]).contains("level"))
        let result = try await world.access("theirs", in: world["tag"])
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
        var team: JSONObject = try world.json("team/vault.json")
        team["packs"] = [:]
        team["resources"] = ["dlc1/game": resources(world["one"], 10, ["both", "theirs"])]
        try world.write("team/vault.json", JSONValue.object(team).pretty())
        try await world.publishTeam()
        try world.settings {
            $0["packs"] = [:]
            $0["bins"] = 4
            $0["resources"] = ["game": resources(world["level"], 80, ["both"])]
            $0["teams"] = [
                "dlc1": [
                    "paths": ["packs/dlc1/*/*"], "keys": ["../team/dlc1.pub.pem"], "site": "../team/site",
                ]
            ]
        }
        try world.grant(["both", "theirs"])
        try await world.publish()
        try await world.fetch().succeeded()
        let priorities = try await world.run("preserve --tag both --tag theirs $STORE")
        #expect(priorities.text == "0.8  both\n0.1  theirs\n", "\(priorities.errorText)")

        // A host that withholds the bin of the studio's pack does not lower it either.
        try await world.publish(level: "new")
        let server = try FaultServer(world.site) { $0.path.contains("/2.packs-") ? .status(404) : .file }
        _ = try await world.fetch(from: server.url)
        try #require(server.exchanges.contains { $0.request.path.contains("/2.packs-") })
        let kept = try await world.run("preserve --tag both --tag theirs $STORE")
        #expect(kept.text == "0.8  both\n0.1  theirs\n", "\(kept.errorText)")
        let fresh = world["fresh"]
        _ = try await world.fetch(from: server.url, into: fresh)
        let unknown = try await world.run("preserve --tag both --store \(fresh)")
        #expect(unknown.text == "0.5  both\n", "\(unknown.errorText)")
    }
}
