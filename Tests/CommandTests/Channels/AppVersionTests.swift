import Testing
import VaultBase

/// Versions of a pack for different versions of the app, as other TUF clients see them;
/// `Scripts/Channels/app-version.txt` is about ours.
@Suite(.timeLimit(.minutes(5))) struct AppVersionTests {
    /// They see what the newest app gets: version 1 is for all apps, 2 from 2.0, and 3 from 3.0 on.
    @Test func otherClientsSeeTheNewest() async throws {
        let world = try await World()
        for (content, apps) in [
            ("one", nil), ("two", ["from": "2.0"]), ("three", ["from": "3.0"]),
        ] as [(String, JSONValue?)] {
            try world.write("level/file", content)
            var pack: JSONObject = ["policy": "essential"]
            pack["apps"] = apps
            try world.declare(["level": pack])
            try await world.publish()
        }
        let verdict = try await Judge.run(
            world.site, root: world.root, target: "packs/level.avpack", into: world["out"])
        #expect(try verdict.json()["target", "custom", "assetvault", "version"] == 3, "\(verdict.errorText)")
    }
}
