import Foundation
import StrictJSON
import Testing

/// Pending signatures: which copies may be merged, and which are too old.
struct PendingTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private let key: String
    private let file: String

    /// Version 2 waits for the signature of the targets' key.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        key = try testSite.takeAway("targets.pem")
        try folder.write("level/file", "version 2")
        try await Command.run("publish", testSite.vault).failed(77, naming: "pending")
        file = folder["vault/pending/2.targets.json"]
    }

    @Test func aCopyWithOtherContent() async throws {
        var copy = try #require(try folder.json("vault/pending/2.targets.json").members)
        var signed = try #require(copy["signed"]?.members)
        signed["expires"] = "2099-01-01T00:00:00Z"
        copy["signed"] = .object(signed)
        try folder.write("copy/2.targets.json", JSONValue.object(copy).pretty())
        try await Command.run("trust", "sign", folder["copy/2.targets.json"], "--key", key).succeeded()
        let before = try folder.bytes("vault/pending/2.targets.json")
        try await Command.run("trust", "sign", file, "--merge", folder["copy/2.targets.json"]).failed(
            76, naming: "copy/2.targets.json", "content differs")
        #expect(try folder.bytes("vault/pending/2.targets.json") == before)
    }

    @Test func keysThatCannotSign() async throws {
        let before = try folder.bytes("vault/pending/2.targets.json")
        try await Command.run("trust", "sign", file).failed(64, naming: "--key")
        try folder.setPermissions("safe/targets.pem", 0o644)
        try await Command.run("trust", "sign", file, "--key", key).failed(
            77, naming: "targets.pem", "chmod 600")
        try await Command.run("trust", "sign", file, "--key", folder["nowhere.pem"]).failed(
            77, naming: "nowhere.pem")
        try folder.write("no.pem", "no key", permissions: 0o600)
        try await Command.run("trust", "sign", file, "--key", folder["no.pem"]).failed(77, naming: "no.pem")
        try await Command.run("trust", "sign", folder["level/file"], "--key", key).failed(
            76, naming: "level/file")
        #expect(try folder.bytes("vault/pending/2.targets.json") == before)
    }

    /// Invalid signatures under the ID of the signing key, in the pending file and in a copy, on a machine without
    /// keys: they replace no valid signature, and only valid ones are published.
    @Test(arguments: [true, false]) func invalidSignaturesUnderTheKeysID(junkComesFirst: Bool) async throws {
        let id = try #require(try await testSite.roles()["targets"]?.keys.first)
        var junk = try #require(try folder.json("vault/pending/2.targets.json").members)
        junk["signatures"] = .array([
            .object(["keyid": .string(id), "sig": .string(String(repeating: "00", count: 64))])
        ])
        let name = "2.targets.json"
        for person in ["elsewhere", "honest"] {
            try folder.write("\(person)/\(name)", folder.bytes("vault/pending/\(name)"))
        }
        try folder.write("junk/\(name)", JSONValue.object(junk).pretty())
        try await Command.run("trust", "sign", folder["honest/\(name)"], "--key", key).succeeded()
        let copies = junkComesFirst ? ["junk", "honest"] : ["honest", "junk"]
        for person in copies {
            try await Command.run(
                "trust", "sign", folder["elsewhere/\(name)"], "--merge", folder["\(person)/\(name)"]
            ).succeeded()
        }
        try folder.write("vault/pending/\(name)", folder.bytes("elsewhere/\(name)"))
        try await Command.run("prune", testSite.vault).succeeded()
        try await testSite.publish()
        let published = try folder.json("vault/site/metadata/\(name)") as JSONValue
        let signed = try folder.json("honest/\(name)") as JSONValue
        #expect(published["signatures"] == signed["signatures"])
        try await testSite.fetch().succeeded()
    }

    /// The key signs a file that has an invalid signature under its ID.
    @Test func aKeyReplacesAnInvalidSignature() async throws {
        let id = try #require(try await testSite.roles()["targets"]?.keys.first)
        var junk = try #require(try folder.json("vault/pending/2.targets.json").members)
        junk["signatures"] = .array([.object(["keyid": .string(id), "sig": "00"])])
        try folder.write("vault/pending/2.targets.json", JSONValue.object(junk).pretty())
        try await Command.run("trust", "sign", file, "--key", key).succeeded()
        #expect(try folder.json("vault/pending/2.targets.json")["signatures"]?.elements?.count == 1)
        try await testSite.publish()
        try await testSite.fetch().succeeded()
    }

    /// A signature by an unlisted key is reported as useless.
    @Test func aKeyThatTheRootDoesNotName() async throws {
        let stranger = try await testSite.makeKey("stranger")
        try await Command.run("trust", "sign", file, "--key", stranger.key).succeeded()
        let before = try Tree("\(testSite.site)/metadata")
        try await Command.run("publish", testSite.vault).failed(77, naming: "pending")
        #expect(try Tree("\(testSite.site)/metadata") == before)
    }

    /// The source changed while a file was pending: the signed old one is not published.
    @Test func theSourceChanged() async throws {
        try await Command.run("trust", "sign", file, "--key", key).succeeded()
        let signed = try folder.json("vault/pending/2.targets.json") as JSONValue
        try folder.write("level/file", "version 3")
        try await Command.run("publish", testSite.vault).failed(77, naming: "pending")
        let anew = try folder.json("vault/pending/2.targets.json") as JSONValue
        #expect(anew["signatures"] == [] && anew["signed", "targets"] != signed["signed", "targets"])
        try await Command.run("trust", "sign", file, "--key", key).succeeded()
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    /// The site changed while a file was pending: it is written again as the next version.
    @Test func theSiteChanged() async throws {
        let old = try folder.bytes("vault/pending/2.targets.json")
        try testSite.bringBack("targets.pem")
        try folder.write("level/file", "version 3")
        try await testSite.publish()
        #expect(try testSite.pending() == [])
        try testSite.takeAway("targets.pem")
        try folder.write("vault/pending/2.targets.json", old)
        try await Command.run("trust", "sign", file, "--key", key).succeeded()
        try folder.write("level/file", "version 4")
        try await Command.run("publish", testSite.vault).failed(77, naming: "pending")
        #expect(try testSite.pending().contains("3.targets.json"))
        try await Command.run("trust", "sign", folder["vault/pending/3.targets.json"], "--key", key)
            .succeeded()
        try await testSite.publish()
        #expect(try testSite.pending() == [])
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    /// A pending root is outdated once another one was published.
    @Test func anotherRootWasPublishedFirst() async throws {
        try testSite.bringBack("targets.pem")
        try testSite.takeAway("root.pem")
        try await testSite.trust("rotate", "timestamp").succeeded()
        let waiting = try folder.bytes("vault/pending/2.root.json")
        try testSite.bringBack("root.pem")
        try await testSite.publish()
        #expect(try testSite.metadata().contains("2.root.json") && testSite.pending() == [])
        try folder.write("vault/pending/2.root.json", waiting)
        try await testSite.publish()
        #expect(try testSite.pending() == [])
        #expect(try !testSite.metadata().contains("3.root.json"))
    }

    /// With less than a quarter of its period left it would have to be signed again at once.
    @Test func aSignatureThatIsTooOld() async throws {
        try await Command.run("trust", "sign", file, "--key", key).succeeded()
        let later = try Clock.shifted(byDays: 300)
        let before = try testSite.metadata()
        try await Command.run("publish", testSite.vault, through: later).failed(
            76, naming: "2.targets.json", "too long ago")
        // The root, which waits for nothing, was renewed.
        #expect(try testSite.metadata() == before.union(["2.root.json"]))
        let anew = try folder.json("vault/pending/2.targets.json") as JSONValue
        #expect(anew["signatures"] == [])
        try await Command.run("trust", "sign", file, "--key", key).succeeded()
        try await testSite.publish(through: later)
        try await testSite.fetch(through: later).succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }
}
