import Foundation
import StrictJSON
import Testing

/// Offline keys: files wait for signatures, are signed elsewhere, and are published then.
struct OfflineKeyTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    private func packs() throws -> [String] { try Tree("\(testSite.site)/targets").files }

    @discardableResult
    private func sign(_ name: String, with key: String) async throws -> CommandResult {
        try await Command.run("trust", "sign", folder["vault/pending/\(name)"], "--key", key)
    }

    /// A new pack is sealed once: the sealed pack is the published one.
    @Test func theKeyOfTheTargets() async throws {
        let readers = try await Readers(of: testSite)
        let (old, before) = (try Tree(folder["level"]), try Tree("\(testSite.site)/metadata"))
        let key = try testSite.takeAway("targets.pem")
        try folder.write("level/file", "version 2")
        try folder.write("other/file", "another pack")
        try await Command.run("publish", testSite.vault, "--pack", "other=\(folder["other"])").failed(
            77, naming: "targets.pem", "pending")
        #expect(try testSite.pending() == ["2.targets.json"])
        #expect(try Tree("\(testSite.site)/metadata") == before)
        try await readers.expectBelief(seeing: [old])
        let sealed = try packs()
        #expect(sealed.count == 3)

        // Publishing again changes nothing.
        let waiting = try folder.bytes("vault/pending/2.targets.json")
        try await Command.run("publish", testSite.vault).failed(77, naming: "pending")
        #expect(try packs() == sealed)
        let listed = try #require(try folder.json("vault/pending/2.targets.json")["signed", "targets"])
        #expect(try listed == JSONValue(parsing: waiting.span, place: "")["signed", "targets"])

        let content = try await sign("2.targets.json", with: key).succeeded().errorText
        #expect(content.contains("lists packs/level.avpack version 2,"))
        #expect(content.contains("lists packs/other.avpack version 1,"))
        try await testSite.publish()
        #expect(try packs() == sealed)
        #expect(try folder.json("vault/site/metadata/2.targets.json")["signed", "targets"] == listed)
        #expect(try testSite.pending() == [])
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
        let again = try Tree(testSite.site)
        try await testSite.publish()
        #expect(try Tree(testSite.site) == again)
    }

    /// A new timestamp key waits for the root's signature; until then the old one is used, and packs are published.
    @Test func theKeyOfTheRoot() async throws {
        let readers = try await Readers(of: testSite)
        let old = try #require(try await testSite.roles()["timestamp"]?.keys)
        let key = try testSite.takeAway("root.pem")
        let rotation = try await testSite.trust("rotate", "timestamp").succeeded()
        #expect(rotation.errorText.contains("2.root.json waits for signatures"))
        #expect(try testSite.pending() == ["2.root.json"])
        #expect(try await testSite.roles()["timestamp"]?.keys == old)

        try folder.write("level/file", "version 2")
        let publication = try await testSite.publish()
        #expect(publication.errorText.contains("2.root.json waits for signatures"))
        #expect(try await testSite.signers(of: "timestamp").isSuperset(of: old))
        try await readers.expectBelief(seeing: [Tree(folder["level"])])

        try await sign("2.root.json", with: key).succeeded()
        try await testSite.publish()
        let new = try #require(try await testSite.roles()["timestamp"]?.keys)
        #expect(new.count == 1 && new.isDisjoint(with: old))
        #expect(try testSite.pending() == [])
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
        try await testSite.publish()
        #expect(try await testSite.signers(of: "timestamp") == new)
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
    }

    /// Two people sign copies; one signature is not enough.
    @Test func twoOfTwoPeople() async throws {
        let own = try #require(try await testSite.roles()["targets"]?.keys.first)
        let (alice, bob) = (try await testSite.makeKey("alice"), try await testSite.makeKey("bob"))
        for key in [alice.publicKey, bob.publicKey] {
            try await testSite.trust("add-key", "targets", key).succeeded()
        }
        try await testSite.trust("remove-key", "targets", String(own.prefix(8))).failed(77, naming: "pending")
        let readers = try await Readers(of: testSite)
        try await signByBoth(alice.key, bob.key, onlyOneIsEnough: true)
        try await testSite.trust("threshold", "targets", "2").failed(77, naming: "pending")
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
        try await signByBoth(alice.key, bob.key, onlyOneIsEnough: false)
        #expect(try await testSite.roles()["targets"]?.threshold == 2)
        try folder.write("level/file", "version 2")
        try await Command.run("publish", testSite.vault).failed(77, naming: "pending")
        try await signByBoth(alice.key, bob.key, onlyOneIsEnough: false)
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
    }

    /// Each signs a copy of the pending file, the copies are merged, and it is published.
    private func signByBoth(_ one: String, _ other: String, onlyOneIsEnough: Bool) async throws {
        let name = try #require(try testSite.pending().first { $0.hasSuffix(".targets.json") })
        let file = folder["vault/pending/\(name)"]
        for (person, key) in [("one", one), ("other", other)] {
            let copy = try folder.makeFolder(person) + "/\(name)"
            try await Tool.run("cp", file, copy)
            try await Command.run("trust", "sign", copy, "--key", key).succeeded()
        }
        try await Command.run("trust", "sign", file, "--merge", folder["one/\(name)"]).succeeded()
        if !onlyOneIsEnough {
            try await Command.run("publish", testSite.vault).failed(77, naming: "pending")
            try await Command.run("trust", "sign", file, "--merge", folder["other/\(name)"]).succeeded()
        }
        try await testSite.publish()
        #expect(try testSite.pending() == [])
    }
}
