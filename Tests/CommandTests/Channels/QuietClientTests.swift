import Foundation
import StrictJSON
import Testing

/// What clients of a site with quiet names do when their channel, their keys or their own files change.
@Suite(.timeLimit(.minutes(5))) struct QuietClientTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    init() async throws { testSite = try await TestSite() }

    private func declare(_ packs: [String], _ change: (inout JSONObject) -> Void = { _ in }) throws {
        try testSite.settings {
            $0["quietNames"] = true
            $0["packs"] = .object(
                JSONObject(
                    lastWins: packs.map { name in
                        (
                            "hush/\(name)",
                            [
                                "source": .string(folder[name]), "policy": "essential",
                                "tags": [.string("hush-\(name)")],
                            ]
                        )
                    }))
            change(&$0)
        }
    }

    /// What has a version in a store, by name.
    private func loaded(_ store: String? = nil) async throws -> Set<String> {
        let answer = try await Command.run("status", "--store", store ?? testSite.store, "--json").succeeded()
        let packs = try #require(try answer.json()["packs"]?.elements).filter { $0["version"] != nil }
        return Set(packs.compactMap { ($0["name"] ?? $0["id"])?.text }).subtracting(["assetvault.names"])
    }

    private func content(of name: String) async throws -> String {
        try String(contentsOfFile: try await testSite.path(of: "hush/\(name)") + "/file", encoding: .utf8)
    }

    /// Each channel has a map of its own. What the other one does not list stays, with its name.
    @Test func aStoreChangesItsChannel() async throws {
        try folder.write("one/file", "one, live")
        try declare(["one"]) { $0["channels"] = ["beta", "live"] }
        try await testSite.publish()
        try await Command.run("promote", testSite.vault, "--from", "beta", "--to", "live", "--all")
            .succeeded()
        try folder.write("one/file", "one, beta")
        try folder.write("two/file", "two, beta")
        try declare(["one", "two"]) { $0["channels"] = ["beta", "live"] }
        try await testSite.publish()
        for (channel, expected) in [
            ("live", ["hush/one"]), ("beta", ["hush/one", "hush/two"]), ("live", ["hush/one", "hush/two"]),
            ("beta", ["hush/one", "hush/two"]),
        ] as [(String, Set<String>)] {
            try await testSite.fetch(nil, "--channel", channel).succeeded()
            #expect(try await loaded() == expected, "\(channel)")
            #expect(try await content(of: "one") == "one, \(channel)")
        }
        #expect(try await content(of: "two") == "two, beta")
        // Offline the names are there as well.
        try await Command.run("remove", "hush/two", "--store", testSite.store).succeeded()
        #expect(try await loaded() == ["hush/one"])
        try await testSite.fetch(nil, "--channel", "live").succeeded()
        try await testSite.fetch(nil, "hush/two").failed(66, naming: "hush/two")
    }

    /// Every key opens the map, and so all names; each opens only its own packs.
    @Test func audiences() async throws {
        for name in ["film", "menu", "rest"] { try folder.write("\(name)/file", name) }
        for name in ["press", "players"] {
            try await Command.run("keygen", "-o", folder["vault/keys/\(name).jwks"]).succeeded()
        }
        try declare(["film", "menu", "rest"]) {
            $0["audiences"] = ["press": "file:keys/press.jwks", "players": "file:keys/players.jwks"]
            var packs = $0["packs"]?.members ?? [:]
            for (name, audience) in [("film", "press"), ("menu", "players")] {
                var pack = packs["hush/\(name)"]?.members ?? [:]
                pack["for"] = [.string(audience)]
                packs["hush/\(name)"] = .object(pack)
            }
            $0["packs"] = .object(packs)
        }
        try await testSite.publish()
        for (key, expected) in [("press", "hush/film"), ("players", "hush/menu"), ("vault", "hush/rest")] {
            let (store, file) = (folder["store-\(key)"], folder["vault/keys/\(key).jwks"])
            let fetch = [
                "fetch", testSite.site, "--store", store, "--trust", testSite.root, "--keys", "file:\(file)",
            ]
            try await Command.run(fetch).succeeded()
            #expect(try await loaded(store) == [expected])
            let names = try await Command.run("list", testSite.site, "--keys", "file:\(file)").succeeded()
            for name in ["film", "menu", "rest"] { #expect(names.text.contains("hush/\(name)"), "\(key)") }
        }
    }

    /// The file with the names is made again of the map.
    @Test(arguments: ["", "{", #"{"sha256": "00"}"#, "{}"]) func damagedNames(content: String) async throws {
        try folder.write("one/file", "one")
        try declare(["one"])
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        let names = "store/permanent/@names"
        let sound = try folder.bytes(names)
        try folder.write(names, content)
        // Without names a pack is known by its listed ID, and nothing else is wrong.
        #expect(try await loaded().allSatisfy { $0.hasPrefix("q") })
        try await Command.run(
            ["access", "hush-one", "--store", testSite.store] + testSite.keys + ["--", "true"]
        ).succeeded()
        #expect(try folder.bytes(names) == sound)
        try folder.write(names, content)
        try await Command.run(["unlock", "--store", testSite.store] + testSite.keys).succeeded()
        try await Command.run(
            "downloader", testSite.site, "--store", testSite.store, "--request", "periodic"
        ).succeeded()
        try await testSite.fetch().succeeded()
        #expect(try folder.bytes(names) == sound)
        #expect(try await loaded() == ["hush/one"])
        try await Command.run(
            ["access", "hush-one", "--store", testSite.store] + testSite.keys + ["--", "true"]
        ).succeeded()
    }
}
