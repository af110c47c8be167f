import Foundation
import StrictJSON
import Testing

/// Paths that packs of a team have in common with another team's packs, or files with those of the studio's.
@Suite(.timeLimit(.minutes(5))) struct TeamPathTests {
    let studio: Studio
    private var testSite: TestSite { studio.testSite }
    private var folder: TemporaryFolder { studio.folder }

    init() async throws { studio = try await Studio() }

    /// What a pack is by its ID it is by a tag: paths that an earlier team has are no later one's.
    @Test(arguments: [nil, 16] as [Int64?]) func anotherTeamsPack(bins: Int64?) async throws {
        _ = try await studio.publish(bins: bins)
        let other = folder["other"]
        try folder.write("theirs/file", "the other team's")
        try await Command.run("init", other, "--team", "dlc2").succeeded()
        try await Tool.run("cp", folder["vault/keys/vault.jwks"], folder["other/keys/vault.jwks"])
        var settings: JSONObject = try folder.json("other/vault.json")
        let pack: JSONValue = ["source": .string(folder["theirs"]), "tags": ["theirs"]]
        settings["packs"] = ["dlc1/one": pack, "dlc2/one": pack]
        try folder.write("other/vault.json", JSONValue.object(settings).pretty())
        try await Command.run("publish", other).succeeded()
        try testSite.settings {
            var teams = $0["teams"]?.members ?? [:]
            teams["dlc2"] = [
                "paths": ["packs/*/*"], "keys": ["../other/dlc2.pub.pem"], "site": "../other/site",
                "tags": ["theirs"],
            ]
            $0["teams"] = .object(teams)
        }
        let dry = try await testSite.publish("--dry-run")
        let published = try await testSite.publish()
        let plan = try await Command.run("plan", testSite.vault).succeeded()
        for result in [dry, published, plan] {
            let text = result.text + result.errorText
            #expect(text.contains("1 pack of the team 'dlc2' is at paths of the team 'dlc1'"), "\(text)")
        }
        #expect(try await studio.fetched("--tag", "theirs", into: folder["tag"]) == ["dlc2/one"])
        #expect(try await studio.fetched("--all", into: folder["all"]) == ["dlc1/one", "dlc2/one", "level"])
        for isOnline in [true, false] {
            let result = try await studio.access("theirs", in: folder["all"], isOnline: isOnline)
            #expect(result.text == "the other team's", "\(result.errorText)")
        }
        let path = try await Command.run("path", "dlc1/one", "--store", folder["all"]).succeeded().text
        let file = "\(path.trimmingCharacters(in: .newlines))/file"
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "the team's")
    }

    /// Paths that a request shows once are named, as far as the studio's key opens the team's packs.
    @Test func pathsOfTwoPacks() async throws {
        let problem = "'file' differs between 'level', which counts, and 'dlc1/one'"
        try folder.write("one/file", "the studi0's")  // of one length
        func texts() async throws -> [String] {
            [
                try await testSite.publish().errorText, try await testSite.publish("--dry-run").errorText,
                try await Command.run("plan", testSite.vault).succeeded().errorText,
            ]
        }
        _ = try await studio.publish(granting: ["both"])
        for text in try await texts() { #expect(text.contains(problem), "\(text)") }
        // Equal files are no conflict.
        try folder.write("one/file", "the studio's")
        _ = try await studio.publish(granting: ["both"])
        for text in try await texts() { #expect(!text.contains("differs between"), "\(text)") }
        try folder.write("one/file", "longer than the studio's")
        _ = try await studio.publish(granting: ["both"])
        for text in try await texts() { #expect(text.contains(problem), "\(text)") }
        // Without a grant no request shows them together.
        _ = try await studio.publish()
        for text in try await texts() { #expect(!text.contains("differs between"), "\(text)") }
    }

    @Test func pathsOfAPackThatNoKeyOpens() async throws {
        _ = try await studio.makeOwnKeys()
        let result = try await studio.publish(granting: ["both"], for: ["own"])
        #expect(!result.errorText.contains("differs between"), "\(result.errorText)")
        try await Command.run("plan", testSite.vault).succeeded()
    }
}
