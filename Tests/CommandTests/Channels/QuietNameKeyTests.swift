import Foundation
import StrictJSON
import Testing

/// The key that makes quiet names is for the vault's own keys alone, and goes on where these are replaced.
@Suite(.timeLimit(.minutes(5))) struct QuietNameKeyTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    /// A film for partners, and nothing for the vault's own key.
    init() async throws {
        testSite = try await TestSite()
        for name in ["film", "menu", "game"] { try folder.write("\(name)/file", name) }
        for name in ["partner", "second"] { try await keygen(name) }
        try declare(["film"])
        try await testSite.publish()
    }

    private func keygen(_ name: String) async throws {
        try await Command.run("keygen", "-o", key(name)).succeeded()
    }

    private func key(_ name: String) -> String { folder["vault/keys/\(name).jwks"] }

    private func given(_ names: String...) -> [String] { names.flatMap { ["--keys", "file:\(key($0))"] } }

    private func declare(_ names: [String], isQuiet: Bool = true) throws {
        try testSite.settings {
            $0["quietNames"] = .bool(isQuiet)
            $0["audiences"] = ["partner": "file:keys/partner.jwks"]
            $0["packs"] = .object(
                JSONObject(
                    lastWins: names.map { name in
                        ("hush/\(name)", ["source": .string(folder[name]), "for": ["partner"]])
                    }))
        }
    }

    private func names(listedFor key: String) async throws -> Set<String>? {
        let result = try await Command.run(
            ["list", testSite.site, "--trust", testSite.root, "--json"] + given(key))
        guard result.exitCode == 0 else {
            #expect(result.exitCode == 77, "\(result.errorText)")
            return nil
        }
        let packs = try #require(try result.json()["packs"]?.elements)
        return Set(packs.compactMap { $0["id"]?.text }).subtracting(["assetvault.names"])
    }

    /// The key IDs of the slots of the key that makes the names, as a reader of the table finds them.
    private func holders(readBy key: String) async throws -> Set<String> {
        let result = try await Command.run(
            ["cat", "assetvault.names", "names.json", "--site", testSite.site, "--trust", testSite.root]
                + given(key)
        ).succeeded()
        let slots = try #require(try result.json()["key"]?["slots"]?.elements)
        return Set(slots.compactMap { $0["kid"]?.text })
    }

    private func keyID(_ name: String) throws -> String {
        let set = try folder.json("vault/keys/\(name).jwks") as JSONObject
        return try #require(set["keys"]?.elements?.first?["kid"]?.text)
    }

    private func packFiles() throws -> Set<String> {
        try Set(Tree(testSite.site).files.filter { $0.hasSuffix(".avpack") })
    }

    /// A reader gets names, and nothing that tells whether a name that he guesses is listed later.
    @Test func aReader() async throws {
        #expect(try await names(listedFor: "partner") == ["hush/film"])
        #expect(try await holders(readBy: "partner") == [keyID("vault")])
    }

    /// The new key goes on with the names: nothing but the table is sealed again.
    @Test func aReplacedVaultKey() async throws {
        let files = try packFiles()
        for keys in [given("vault", "second"), given("second")] {
            let result = try await Command.run(["publish", testSite.vault] + keys).succeeded()
            #expect(result.text.contains("updated  assetvault.names"), "\(result.text)")
            #expect(result.text.contains("unchanged  1 pack"), "\(result.text)")
        }
        #expect(try await holders(readBy: "partner") == [keyID("second")])
        try await Tool.run("mv", key("second"), key("vault"))
        #expect(try await testSite.publish().errorText.contains("nothing changed"))
        try declare(["film", "menu"])
        try await testSite.publish()
        #expect(try await names(listedFor: "vault") == ["hush/film", "hush/menu"])
        #expect(try await names(listedFor: "partner") == ["hush/film", "hush/menu"])
        // Two tables more for the keys, one for the menu, and the menu.
        #expect(try packFiles().subtracting(files).count == 4)
    }

    /// The order in which keys are given makes no other table.
    @Test func twoVaultKeys() async throws {
        for (number, keys) in [given("vault", "second"), given("second", "vault")].enumerated() {
            let result = try await Command.run(["publish", testSite.vault] + keys).succeeded()
            #expect(result.text.contains("updated  assetvault.names") == (number == 0), "\(result.text)")
        }
    }

    /// What a site listed before its vault key was replaced is restored with the new key alone, and so is the present afterwards.
    @Test(arguments: [false, true]) func aRestoredTable(onARunner: Bool) async throws {
        try declare(["film", "menu"])
        for keys in [given("vault", "second"), given("second")] {
            try await Command.run(["publish", testSite.vault] + keys).succeeded()
        }
        try await Tool.run("mv", key("second"), key("vault"))
        let host = folder["host"]
        var against: [String] = []
        if onARunner {
            try await Tool.run("cp", "-a", testSite.site, host)
            try await Tool.run("rm", "-r", testSite.site)
            against = ["--against", host]
        }
        func run(_ words: String...) async throws -> CommandResult {
            let result = try await Command.run([words[0], testSite.vault] + words.dropFirst() + against)
                .succeeded()
            if onARunner { try await Tool.run("cp", "-rT", testSite.site, host) }
            return result
        }
        func expect(_ expected: Set<String>, at location: SourceLocation = #_sourceLocation) async throws {
            if onARunner { try await Tool.run("cp", "-rT", host, testSite.site) }
            for key in ["vault", "partner"] {
                #expect(try await names(listedFor: key) == expected, "\(key)", sourceLocation: location)
            }
            if onARunner { try await Tool.run("rm", "-r", testSite.site) }
        }
        _ = try await run("restore", "--channel", "live", "--to", "1")
        try await expect(["hush/film"])
        #expect(try await run("publish").errorText.contains("nothing changed"))
        try declare(["film", "menu", "game"])
        _ = try await run("restore", "--channel", "live", "--latest")
        try await expect(["hush/film", "hush/menu", "hush/game"])
    }

    /// A vault whose packs are all for audiences needs a key of its own for the names.
    @Test func noVaultKey() async throws {
        try await Tool.run("mv", key("vault"), folder["away.jwks"])
        let before = try Tree(testSite.vault)
        for options in [["--dry-run"], []] {
            let result = try await Command.run(["publish", testSite.vault] + options)
            result.failed(77, naming: "the vault's own key keeps what makes them")
        }
        #expect(try Tree(testSite.vault) == before)
        try await Command.run("publish", testSite.vault, "--keys", "file:\(folder["away.jwks"])").succeeded()
        // Without quiet names it needs none.
        try declare(["film"], isQuiet: false)
        try await testSite.publish()
    }

    /// The first publication says it, too.
    @Test func aFreshVaultWithoutKey() async throws {
        let fresh = try await TestSite()
        try fresh.settings { $0["quietNames"] = true }
        try await Tool.run("rm", fresh.folder["vault/keys/vault.jwks"])
        try await Command.run("publish", fresh.vault).failed(
            77, naming: "names are quiet, and the vault's own key keeps what makes them")
    }

    /// No other key continues the names.
    @Test func anotherVaultKey() async throws {
        try await Command.run(["publish", testSite.vault] + given("second")).failed(
            77, naming: "the key of the names in assetvault.names", try keyID("vault"))
    }
}
