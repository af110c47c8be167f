import Foundation
import StrictJSON
import Testing

/// Different vault keys with one ID: given together they are refused, and slots of a replaced one are found and rewritten.
@Suite(.timeLimit(.minutes(5))) struct EqualKeyIDTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    /// A film for the press, which was live before.
    init() async throws {
        testSite = try await TestSite()
        try folder.write("film/file", "a film")
        for name in ["press", "partner"] { try await keygen(name, as: name) }
        try declare(["film": .object(film)])
        try await publishToAll()
    }

    private let film: JSONObject = ["source": "../film", "policy": "essential", "for": ["press"]]
    private let filmForBoth: JSONObject = [
        "source": "../film", "policy": "essential", "for": ["press", "partner"],
    ]
    private static let audiences: JSONObject = [
        "press": "file:keys/press.jwks", "partner": "file:keys/partner.jwks",
    ]

    private func key(_ name: String) -> String { folder["vault/keys/\(name).jwks"] }

    /// A fresh key, with an ID that somebody chose.
    private func keygen(_ name: String, as id: String) async throws {
        try? FileManager.default.removeItem(atPath: key(name))
        try await Command.run("keygen", "-o", key(name)).succeeded()
        let text = try String(contentsOfFile: key(name), encoding: .utf8)
        try folder.write(
            "vault/keys/\(name).jwks",
            text.replacing(#/"kid":"[^"]*"/#, with: "\"kid\":\"\(id)\""), permissions: 0o600)
    }

    private func declare(
        _ packs: JSONObject, resources: JSONObject = [:], isQuiet: Bool = false,
        _ audiences: JSONObject = audiences
    ) throws {
        try testSite.settings {
            $0["channels"] = ["dev", "live"]
            $0["quietNames"] = .bool(isQuiet)
            $0["audiences"] = .object(audiences)
            $0["packs"] = .object(packs)
            $0["resources"] = .object(resources)
        }
    }

    private func publishToAll() async throws {
        try await testSite.publish()
        try await Command.run("promote", testSite.vault, "--from", "dev", "--to", "live", "--all").succeeded()
    }

    /// What a new client of a channel loads by one key; nil where that unwraps nothing.
    private func packs(in channel: String, with key: String) async throws -> Set<String>? {
        let store = folder["store-\(UUID().uuidString)"]
        let result = try await Command.run(
            "fetch", testSite.site, "--store", store, "--trust", testSite.root, "--channel", channel,
            "--all", "--keys", "file:\(self.key(key))")
        guard result.exitCode == 0 else {
            #expect(result.exitCode == 77, "\(result.errorText)")
            return nil
        }
        let answer = try await Command.run("status", "--store", store, "--json").succeeded().json()
        let loaded = try #require(answer["packs"]?.elements).filter { $0["version"] != nil }
        return Set(loaded.compactMap { ($0["name"] ?? $0["id"])?.text }).subtracting(["assetvault.names"])
    }

    private func twoKeys(_ first: String, _ second: String) -> [String] {
        ["two different keys have the ID 'press'", key(first), key(second), "ID of its own", "keygen"]
    }

    /// The old key would get the slots that the new one was to have, or the other way round.
    @Test(
        arguments: [
            ["publish"], ["publish", "--dry-run"], ["plan"], ["plan", "--updates"],
            ["restore", "film", "--version", "1"], ["restore", "--channel", "dev", "--to", "2"],
            ["restore", "--channel", "live", "--to", "2"],
        ], [false, true])
    func twoAudiences(command: [String], isQuiet: Bool) async throws {
        try FileManager.default.moveItem(atPath: key("press"), toPath: key("leaked"))
        try await keygen("press", as: "press")
        try declare(
            ["film": .object(film)], isQuiet: isQuiet,
            ["press": "file:keys/press.jwks", "press-leaked": "file:keys/leaked.jwks"])
        let before = try Tree(testSite.vault)
        let result = try await Command.run([command[0], testSite.vault] + command.dropFirst())
        result.failed(64)
        for part in twoKeys("leaked", "press") {
            #expect(result.errorText.contains(part), "\(result.errorText)")
        }
        #expect(try Tree(testSite.vault) == before)
    }

    /// The vault's own keys count, in its file or given, and one pack that is sealed for two.
    @Test func otherSources() async throws {
        try declare(["film": .object(film), "rest": ["source": "../film"]])
        try await keygen("second", as: "press")
        let keys = ["--keys", "file:\(key("press"))", "--keys", "file:\(key("second"))"]
        for words in [
            ["publish", testSite.vault], ["plan", testSite.vault],
            ["seal", folder["film"], "-o", folder["film.avpack"]],
        ] {
            let result = try await Command.run(words + keys)
            result.failed(64)
            for part in twoKeys("press", "second") {
                #expect(result.errorText.contains(part), "\(result.errorText)")
            }
        }
        try await keygen("vault", as: "press")
        try await Command.run("publish", testSite.vault).failed(
            64, naming: "two different keys have the ID 'press'", key("vault"), key("press"))
    }

    /// One key may come from several sources.
    @Test func oneKeyTwice() async throws {
        try FileManager.default.copyItem(atPath: key("press"), toPath: key("copy"))
        try declare(
            ["film": .object(filmForBoth)],
            ["press": "file:keys/press.jwks", "partner": "file:keys/copy.jwks"])
        try await testSite.publish("--dry-run")
        try await Command.run("plan", testSite.vault).succeeded()
        #expect(try await testSite.publish().errorText.contains("nothing changed"))
    }

    /// The file of a key has another one with its ID: all slots of the old one go, also those of the table of names.
    @Test(arguments: [false, true]) func aKeyReplacedInItsPlace(isQuiet: Bool) async throws {
        try declare(["film": .object(filmForBoth)], isQuiet: isQuiet)
        try await publishToAll()
        try FileManager.default.moveItem(atPath: key("press"), toPath: key("leaked"))
        try await keygen("press", as: "press")
        for options in [["--dry-run"], []] {
            let result = try await Command.run(["publish", testSite.vault] + options).succeeded()
            #expect(
                result.errorText.contains("no longer sealed for the vault key 'press' of before"),
                "\(result.errorText)")
            #expect(result.errorText.contains("holders of 'press' of before"), "\(result.errorText)")
            #expect(!result.errorText.contains("still opens"), "\(result.errorText)")
        }
        for channel in ["dev", "live"] {
            #expect(try await packs(in: channel, with: "press") == ["film"])
            #expect(try await packs(in: channel, with: "partner") == ["film"])
            #expect(try await packs(in: channel, with: "leaked") == nil, "\(channel)")
        }
        #expect(try await testSite.publish().errorText.contains("nothing changed"))
    }

    /// Another channel has a version with another content key, whose slots name the same IDs.
    @Test func anotherContentKey() async throws {
        let tree: JSONObject = [
            "game": [
                "source": "../film", "for": ["press", "partner"], "initial": ["all"],
                "rules": [["paths": "*", "tags": ["all"]]],
            ]
        ]
        try declare([:], resources: tree)
        try await publishToAll()
        try FileManager.default.moveItem(atPath: key("press"), toPath: key("leaked"))
        try await keygen("press", as: "press")
        try declare(["game/all": .object(filmForBoth)])
        let result = try await testSite.publish()
        #expect(
            result.text.contains("resealed  1 pack in the channel live, for other keys: game/all version 1"),
            "\(result.text)")
        #expect(try await packs(in: "live", with: "press") == ["game/all"])
        #expect(try await packs(in: "live", with: "leaked") == nil)
    }

    /// No source makes the live film any more, and no key here opens it.
    @Test func whatStaysOpenIsNamed() async throws {
        try FileManager.default.removeItem(atPath: key("press"))
        try await keygen("press", as: "press")
        try folder.write("menu/file", "a menu")
        try declare(["menu": ["source": "../menu", "for": ["press"]]])
        for _ in 1...2 {
            let result = try await testSite.publish()
            #expect(
                result.errorText.contains("the vault key 'press' of before")
                    && result.errorText.contains(
                        "still opens what is listed: 'film' version 1 in the channel live"),
                "\(result.errorText)")
        }
    }

    /// The source can't be sealed on: nobody here has its content key.
    @Test func aSourceThatNoKeyOpens() async throws {
        try FileManager.default.removeItem(atPath: key("press"))
        try await keygen("press", as: "press")
        try await Command.run("publish", testSite.vault).failed(
            77, naming: "the key 'press' does not unwrap")
    }
}
