import Foundation
import Testing
import VaultBase

/// A leaked key of an audience is replaced.
@Suite(.timeLimit(.minutes(5))) struct AudienceKeyTests {
    let world: World

    /// A film for the press; nothing is for the vault's own key.
    init() async throws {
        world = try await World()
        try world.write("film/file", "a film")
        try await keygen("press")
        try declare(["press": "file:keys/press.jwks"])
        try await world.publish()
    }

    private func keygen(_ name: String) async throws {
        try await world.run("keygen -o $WORK/vault/keys/\(name).jwks").succeeded()
    }

    private func declare(_ audiences: JSONObject, andFor other: JSONObject? = nil) throws {
        try world.settings {
            $0["audiences"] = .object(audiences)
            var packs: JSONObject = ["film": .object(["source": .string(world["film"]), "for": ["press"]])]
            packs["rest"] = other.map { .object($0) }
            $0["packs"] = .object(packs)
        }
    }

    private func keyID(_ name: String) throws -> String {
        try #require(try world.json("vault/keys/\(name).jwks")["keys"]?.elements?.first?["kid"]?.text)
    }

    private func keys(of id: String) async throws -> [String] {
        let listed = try await world.run("list $SITE --json").succeeded().json()
        let pack = try #require(listed["packs"]?.elements?.first { $0["id"]?.text == id })
        return (pack["keys"]?.elements ?? []).compactMap(\.text)
    }

    /// Nothing would change, so that the packs would stay open to all holders of the key.
    @Test(arguments: [["publish"], ["publish", "--dry-run"], ["restore", "film", "--version", "1"]])
    func keysThatNoPackUses(command: [String]) async throws {
        try await keygen("press-2")
        let before = try Tree(world.vault)
        try await world.run(
            "\(command[0]) $VAULT \(command.dropFirst()) --keys file:$WORK/vault/keys/press-2.jwks"
        ).failed(64, naming: "every pack is for an audience: press", "assetvault keys rekey")
        #expect(try Tree(world.vault) == before)
    }

    /// A source of keys is replaced by another one, as where keys do not come from a file; also beside packs for the vault's own key,
    /// which the old key never opens.
    @Test(arguments: [false, true]) func aReplacedKey(besideOthers: Bool) async throws {
        let other: JSONObject? = besideOthers ? ["source": .string(world["film"])] : nil
        if besideOthers {
            try declare(["press": "file:keys/press.jwks"], andFor: other)
            try await world.publish()
        }
        let pack = try world.publishedPack("film")
        try await keygen("press-2")
        try declare(
            ["press": "file:keys/press-2.jwks", "press-leaked": "file:keys/press.jwks"], andFor: other)
        let (old, new) = (try keyID("press"), try keyID("press-2"))
        let result = try await world.publish()
        #expect(result.errorText.contains("film is no longer sealed for the vault key '\(old)'"))
        #expect(result.errorText.contains("holders of '\(old)' still read"), "\(result.errorText)")
        #expect(try world.publishedPack("film") == pack)
        #expect(try await keys(of: "film") == [new])
        if besideOthers { #expect(try await keys(of: "rest") == [keyID("vault")]) }
        // The old key is needed no more.
        try world.remove("vault/keys/press.jwks")
        try declare(["press": "file:keys/press-2.jwks"], andFor: other)
        let again = try await world.publish()
        #expect(again.errorText.contains("nothing changed"), "\(again.errorText)")
        try world.write("film/file", "another film")
        try await world.publish()
        #expect(try await keys(of: "film") == [new])
    }

    /// The old slots go when the warning says, not before: the versions that are kept for 'restore' keep their metadata.
    @Test(arguments: [false, true]) func theOldSlots(besideARemovedPack: Bool) async throws {
        let rest: JSONObject = ["source": .string(world["film"]), "for": ["press"]]
        try declare(["press": "file:keys/press.jwks"], andFor: besideARemovedPack ? rest : nil)
        try world.write("film/file", "a second film")
        try await world.publish()
        let leaked = world["vault/keys/press.jwks"]
        try await keygen("press-2")
        try declare(["press": "file:keys/press-2.jwks", "press-leaked": "file:keys/press.jwks"])
        let result = try await world.publish()
        #expect(result.errorText.contains("(assetvault prune --keep 1)"), "\(result.errorText)")
        try world.write("film/file", "a third film")
        try await world.publish()
        let third = try world.publishedPack("film")
        // Its content key is that of the versions before.
        #expect(try await world.packsOpened(by: leaked).contains(third))
        func prune(_ options: Words = "", after days: Int) async throws {
            try await world.run("prune $VAULT \(options)", through: Clock.shifted(byDays: days)).succeeded()
        }
        try await prune("--keep 1", after: 20)
        #expect(try await world.packsOpened(by: leaked).contains(third))
        try await world.publish(through: Clock.shifted(byDays: 70))
        try await prune(after: 70)
        #expect(try await world.packsOpened(by: leaked).contains(third))
        try await prune("--keep 1", after: 70)
        let opened = try await world.packsOpened(by: leaked)
        if besideARemovedPack {
            // What lists the pack that is listed no more lists the film of then.
            #expect(opened.contains(third))
        } else {
            #expect(opened.isEmpty, "\(opened)")
        }
        #expect(try await world.packsOpened(by: world["vault/keys/press-2.jwks"]).contains(third))
    }

    /// The document says what the script Keys/rekey and the tests above try.
    @Test func theDocument() throws {
        let readme = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../../Keys/README.md").standardized,
            encoding: .utf8)
        for line in [
            "assetvault keys rekey VAULT ", "--audience press", "assetvault keys rekey VAULT --finish",
            "only with `--keep 1`",
        ] {
            #expect(readme.contains(line), "\(line)")
        }
    }
}
