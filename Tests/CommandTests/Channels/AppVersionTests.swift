import Foundation
import StrictJSON
import Testing

/// Versions of a pack for different versions of the app, as other TUF clients see them;
/// `Scripts/Channels/app-version.txt` is about ours.
@Suite(.timeLimit(.minutes(5))) struct AppVersionTests {
    /// They see what the newest app gets: version 1 is for all apps, 2 from 2.0, and 3 from 3.0 on.
    @Test func otherClientsSeeTheNewest() async throws {
        let testSite = try await TestSite()
        let folder = testSite.folder
        for (content, apps) in [
            ("one", nil), ("two", ["from": "2.0"]), ("three", ["from": "3.0"]),
        ] as [(String, JSONValue?)] {
            try folder.write("level/file", content)
            try testSite.settings {
                var pack: JSONObject = ["source": .string(folder["level"]), "policy": "essential"]
                pack["apps"] = apps
                $0["packs"] = ["level": .object(pack)]
            }
            try await testSite.publish()
        }
        let verdict = try await Judge.run(
            testSite.site, root: testSite.root, target: "packs/level.avpack", into: folder["out"])
        #expect(try verdict.json()["target", "custom", "assetvault", "version"] == 3, "\(verdict.errorText)")
    }
}
