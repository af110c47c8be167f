import Foundation
import StrictJSON
import Testing

/// What publish and plan report of a team whose packs clients of the site can't open, or find.
@Suite(.timeLimit(.minutes(5))) struct TeamKeyTests {
    let studio: Studio
    private var testSite: TestSite { studio.testSite }
    private var folder: TemporaryFolder { studio.folder }

    init() async throws { studio = try await Studio() }

    /// What `publish`, `publish --dry-run` and `plan` say.
    private func texts() async throws -> [String] {
        try [
            await testSite.publish("--dry-run").errorText, await testSite.publish().errorText,
            await Command.run("plan", testSite.vault).succeeded().errorText,
        ]
    }

    private static let problem =
        "the pack 'dlc1/one' of the team 'dlc1' has the granted tag 'both', but is sealed for other keys than the site's packs of it: clients without its key can't begin 'both'"

    @Test func aGrantedTagNeedsTheKeysOfTheSite() async throws {
        _ = try await studio.makeOwnKeys()
        _ = try await studio.publish(granting: ["both", "theirs"], for: ["own"])
        for text in try await texts() {
            #expect(text.components(separatedBy: Self.problem).count == 2, "\(text)")
            #expect(!text.contains("begin 'theirs'"), "\(text)")
        }
        // Without a grant the tag is the site's alone.
        _ = try await studio.publish(for: ["own"])
        for text in try await texts() { #expect(!text.contains("sealed for other keys"), "\(text)") }
    }

    /// A team seals for the studio's clients by the studio's key: its own is a copy of it, or it is an audience.
    @Test func aTeamSealsForTheStudio() async throws {
        _ = try await studio.publish(granting: ["both"])
        for text in try await texts() { #expect(!text.contains("sealed for other keys"), "\(text)") }
        // The team has another key than the studio.
        let own = try await studio.makeOwnKeys()
        try await Tool.run("cp", own, folder["team/keys/vault.jwks"])
        var settings: JSONObject = try folder.json("team/vault.json")
        settings["audiences"] = ["studio": "file:../vault/keys/vault.jwks"]
        try folder.write("team/vault.json", JSONValue.object(settings).pretty())
        _ = try await studio.publish(granting: ["both"], for: ["studio"])
        for text in try await texts() { #expect(!text.contains("sealed for other keys"), "\(text)") }
        let result = try await studio.access("both", in: folder["fresh"])
        #expect(result.text == "the studio's", "\(result.errorText)")
    }

    /// The keys of an audience that `plan` can't read say nothing.
    @Test func keysOfTheSiteThatAreElsewhere() async throws {
        _ = try await studio.makeOwnKeys()
        _ = try await studio.publish(granting: ["both"], for: ["own"])
        try testSite.settings {
            $0["audiences"] = ["players": "env:NO_SUCH_KEY"]
            $0["packs"] = [
                "level": ["source": .string(folder["level"]), "tags": ["both"], "for": ["players"]]
            ]
        }
        let plan = try await Command.run("plan", testSite.vault).succeeded()
        #expect(!plan.errorText.contains("sealed for other keys"), "\(plan.errorText)")
    }

    @Test func targetsThatNoClientFinds() async throws {
        try studio.declareTeam(["dlc1/one": [:], "elsewhere/one": [:]])
        let team = try await studio.publishTeam()
        #expect(team.errorText.contains("give site/ to the publisher of the site"), "\(team.errorText)")
        #expect(!team.errorText.contains("timestamp"), "\(team.errorText)")
        for text in try await texts() {
            #expect(text.contains("the team 'dlc1' lists 1 target outside of packs/dlc1/*"), "\(text)")
        }
        let plan = try await Command.run("plan", testSite.vault).succeeded().text
        #expect(plan.components(separatedBy: "without the packs of teams").count == 2, "\(plan)")
    }

    /// What was written is named, and what brings it to the host.
    @Test func theUploadIsNamed() async throws {
        try folder.write("level/file", "version 2")
        let published = try await testSite.publish().errorText
        #expect(published.contains("timestamp.json; 'assetvault upload' brings"), "\(published)")
    }
}
