import Foundation
import StrictJSON
import Testing

/// A leaked key of an audience is replaced.
@Suite(.timeLimit(.minutes(5))) struct AudienceKeyTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    /// A film for the press; nothing is for the vault's own key.
    init() async throws {
        testSite = try await TestSite()
        try folder.write("film/file", "a film")
        try await keygen("press")
        try declare(["press": "file:keys/press.jwks"])
        try await testSite.publish()
    }

    private func keygen(_ name: String) async throws {
        try await Command.run("keygen", "-o", folder["vault/keys/\(name).jwks"]).succeeded()
    }

    private func declare(_ audiences: JSONObject, andFor other: JSONObject? = nil) throws {
        try testSite.settings {
            $0["audiences"] = .object(audiences)
            var packs: JSONObject = ["film": .object(["source": .string(folder["film"]), "for": ["press"]])]
            packs["rest"] = other.map { .object($0) }
            $0["packs"] = .object(packs)
        }
    }

    private func keyID(_ name: String) throws -> String {
        try #require(try folder.json("vault/keys/\(name).jwks")["keys"]?.elements?.first?["kid"]?.text)
    }

    private func keys(of id: String) async throws -> [String] {
        let listed = try await Command.run("list", testSite.site, "--json").succeeded().json()
        let pack = try #require(listed["packs"]?.elements?.first { $0["id"]?.text == id })
        return (pack["keys"]?.elements ?? []).compactMap(\.text)
    }

    /// Nothing would change, so that the packs would stay open to all holders of the key.
    @Test(arguments: [["publish"], ["publish", "--dry-run"], ["restore", "film", "--version", "1"]])
    func keysThatNoPackUses(command: [String]) async throws {
        try await keygen("press-2")
        let before = try Tree(testSite.vault)
        try await Command.run(
            [command[0], testSite.vault] + command.dropFirst() + [
                "--keys", "file:\(folder["vault/keys/press-2.jwks"])",
            ]
        ).failed(64, naming: "every pack is for an audience: press", "\"audiences\"")
        #expect(try Tree(testSite.vault) == before)
    }

    /// The commands of Keys/README.md, also beside packs for the vault's own key, which the old key never opens.
    @Test(arguments: [false, true]) func aReplacedKey(besideOthers: Bool) async throws {
        let other: JSONObject? = besideOthers ? ["source": .string(folder["film"])] : nil
        if besideOthers {
            try declare(["press": "file:keys/press.jwks"], andFor: other)
            try await testSite.publish()
        }
        let pack = try testSite.publishedPack("film")
        try await keygen("press-2")
        try declare(
            ["press": "file:keys/press-2.jwks", "press-leaked": "file:keys/press.jwks"], andFor: other)
        let (old, new) = (try keyID("press"), try keyID("press-2"))
        let result = try await testSite.publish()
        #expect(result.errorText.contains("film is no longer sealed for the vault key '\(old)'"))
        #expect(result.errorText.contains("holders of '\(old)' still read"), "\(result.errorText)")
        #expect(try testSite.publishedPack("film") == pack)
        #expect(try await keys(of: "film") == [new])
        if besideOthers { #expect(try await keys(of: "rest") == [keyID("vault")]) }
        // The old key is needed no more.
        try FileManager.default.removeItem(atPath: folder["vault/keys/press.jwks"])
        try declare(["press": "file:keys/press-2.jwks"], andFor: other)
        let again = try await testSite.publish()
        #expect(again.errorText.contains("nothing changed"), "\(again.errorText)")
        try folder.write("film/file", "another film")
        try await testSite.publish()
        #expect(try await keys(of: "film") == [new])
    }

    /// The old slots go when the warning says, not before: the versions that are kept for 'restore' keep their metadata.
    @Test(arguments: [false, true]) func theOldSlots(besideARemovedPack: Bool) async throws {
        let rest: JSONObject = ["source": .string(folder["film"]), "for": ["press"]]
        try declare(["press": "file:keys/press.jwks"], andFor: besideARemovedPack ? rest : nil)
        try folder.write("film/file", "a second film")
        try await testSite.publish()
        let leaked = folder["vault/keys/press.jwks"]
        try await keygen("press-2")
        try declare(["press": "file:keys/press-2.jwks", "press-leaked": "file:keys/press.jwks"])
        let result = try await testSite.publish()
        #expect(result.errorText.contains("(assetvault prune --keep 1)"), "\(result.errorText)")
        try folder.write("film/file", "a third film")
        try await testSite.publish()
        let third = try testSite.publishedPack("film")
        // Its content key is that of the versions before.
        #expect(try await testSite.packsOpened(by: leaked).contains(third))
        func prune(_ options: String..., after days: Int) async throws {
            try await Command.run(
                ["prune", testSite.vault] + options, through: Clock.shifted(byDays: days)
            ).succeeded()
        }
        try await prune("--keep", "1", after: 20)
        #expect(try await testSite.packsOpened(by: leaked).contains(third))
        try await testSite.publish(through: Clock.shifted(byDays: 70))
        try await prune(after: 70)
        #expect(try await testSite.packsOpened(by: leaked).contains(third))
        try await prune("--keep", "1", after: 70)
        let opened = try await testSite.packsOpened(by: leaked)
        if besideARemovedPack {
            // What lists the pack that is listed no more lists the film of then.
            #expect(opened.contains(third))
        } else {
            #expect(opened.isEmpty, "\(opened)")
        }
        #expect(try await testSite.packsOpened(by: folder["vault/keys/press-2.jwks"]).contains(third))
    }

    /// The documented commands are those above.
    @Test func theDocument() throws {
        let readme = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../../Keys/README.md").standardized,
            encoding: .utf8)
        for line in [
            "assetvault keygen -o VAULT/keys/press-2.jwks", "\"press\": \"file:keys/press-2.jwks\"",
            "\"press-leaked\": \"file:keys/press.jwks\"", "assetvault publish VAULT",
            "removes them only with `--keep 1`",
        ] {
            #expect(readme.contains(line), "\(line)")
        }
    }
}
