import FaultServer
import Foundation
import StrictJSON
import Testing

/// Added and retired vault keys: only metadata change, and they apply to packs that clients already have.
struct KeyChangeTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    let (first, second): ([String], [String])

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "content")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await Command.run("keygen", "-o", folder["second.jwks"]).succeeded()
        first = testSite.keys
        second = ["--keys", "file:\(folder["second.jwks"])"]
    }

    @discardableResult
    private func publish(_ options: [String]) async throws -> CommandResult {
        try await Command.run(["publish", testSite.vault] + options).succeeded()
    }

    private func keyID(_ name: String) throws -> String {
        try #require(try folder.json(name)["keys"]?.elements?.first?["kid"]?.text)
    }

    /// A sealed pack opens with the new key without the site.
    @Test(arguments: [true, false]) func newSlotsReachLoadedPacks(withNewKey: Bool) async throws {
        try await testSite.fetch(nil, "--sealed").succeeded()
        let path = try await testSite.path(of: "level")
        try await Command.run(["cat", path, "file"] + second).failed(77)
        let pack = try testSite.publishedPack("level")
        try await publish(first + second)
        #expect(try testSite.publishedPack("level") == pack)

        let server = try FaultServer(testSite.site)
        let fetch = ["fetch", server.url, "--store", testSite.store, "--sealed"]
        try await Command.run(fetch + (withNewKey ? second : [])).succeeded()
        #expect(server.packs.isEmpty, "the pack is there already")
        try FileManager.default.removeItem(atPath: testSite.site)
        for keys in [second, first] {
            let cat = try await Command.run(["cat", path, "file"] + keys).succeeded()
            #expect(cat.text == "content")
            let inspection = try await Command.run(["inspect", path] + keys).succeeded()
            #expect(inspection.text.contains(try keyID("second.jwks")))
        }
    }

    /// A former owner may still have it.
    @Test(arguments: [false, true]) func aRetiredKeyThatReturnsIsReported(fromAHost: Bool) async throws {
        let retired = try keyID("vault/keys/vault.jwks")
        let against = fromAHost ? ["--against", "file://\(folder["host"])"] : []
        let warning = "the vault key '\(retired)' was retired, and opens packs again"
        for keys in [first + second, second] {
            #expect(!(try await publish(keys).errorText.contains("retired")))
        }
        if fromAHost { try await Tool.run("mv", testSite.site, folder["host"]) }
        let dry = try await publish(first + second + against + ["--dry-run"])
        #expect(dry.errorText.contains(warning))
        let result = try await publish(first + second + against)
        #expect(result.errorText.contains(warning))
        #expect(!result.errorText.contains(try keyID("second.jwks")))
        if fromAHost { return }
        // It is one of the keys again.
        #expect(!(try await publish(first + second).errorText.contains("retired")))
    }

    @Test func aDroppedKeyIsNamed() async throws {
        let (one, other) = (try keyID("vault/keys/vault.jwks"), try keyID("second.jwks"))
        let both = try await publish(first + second + ["--json"]).json()
        #expect(both["packs"]?.elements?.first?["droppedKeys"] == [])

        let result = try await publish(first)
        #expect(result.errorText.contains("level is no longer sealed for the vault key '\(other)'"))
        #expect(!result.errorText.contains(one) && !result.text.contains(other))

        try await publish(first + second)
        let report = try await publish(second + ["--json"]).json()
        #expect(report["packs"]?.elements?.first?["droppedKeys"] == [.string(one)])
        // Nothing is said twice.
        let again = try await publish(second)
        #expect(!again.errorText.contains("no longer"))
        #expect(try await publish(second + ["--json"]).json()["packs"]?.elements?.first?["droppedKeys"] == [])
    }
}
