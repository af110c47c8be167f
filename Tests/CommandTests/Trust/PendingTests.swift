import Foundation
import StrictJSON
import Testing

/// What waits for signatures: what may be merged, and what has waited too long.
struct PendingTests {
    let workshop: Workshop
    let folder: TemporaryFolder
    private let key: String
    private let file: String

    /// Version 2 waits for the signature of the targets' key.
    init() async throws {
        workshop = try await Workshop()
        folder = workshop.folder
        try folder.write("level/file", "version 1")
        try await workshop.publish("--pack", "level=\(folder["level"])")
        key = try workshop.takeAway("targets.pem")
        try folder.write("level/file", "version 2")
        try await Command.run("publish", workshop.vault).failed(77, naming: "pending")
        file = folder["vault/pending/2.targets.json"]
    }

    @Test func aCopyThatSaysSomethingElse() async throws {
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

    @Test func whatCannotSign() async throws {
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

    /// Junk under the ID of the key that is to sign, in the file that waits and in a copy of it, on a machine that knows no
    /// key: it takes no valid signature's place, and only valid ones are published.
    @Test(arguments: [true, false]) func junkUnderTheKeysOwnID(junkComesFirst: Bool) async throws {
        let id = try #require(try await workshop.roles()["targets"]?.keys.first)
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
        try await Command.run("prune", workshop.vault).succeeded()
        try await workshop.publish()
        let published = try folder.json("vault/site/metadata/\(name)") as JSONValue
        let signed = try folder.json("honest/\(name)") as JSONValue
        #expect(published["signatures"] == signed["signatures"])
        try await workshop.fetch().succeeded()
    }

    /// The key signs a file that has junk under its ID already.
    @Test func aKeySignsOverJunk() async throws {
        let id = try #require(try await workshop.roles()["targets"]?.keys.first)
        var junk = try #require(try folder.json("vault/pending/2.targets.json").members)
        junk["signatures"] = .array([.object(["keyid": .string(id), "sig": "00"])])
        try folder.write("vault/pending/2.targets.json", JSONValue.object(junk).pretty())
        try await Command.run("trust", "sign", file, "--key", key).succeeded()
        #expect(try folder.json("vault/pending/2.targets.json")["signatures"]?.elements?.count == 1)
        try await workshop.publish()
        try await workshop.fetch().succeeded()
    }

    /// Somebody else's signature is no help, and says so.
    @Test func aKeyThatTheRootDoesNotName() async throws {
        let stranger = try await workshop.makeKey("stranger")
        try await Command.run("trust", "sign", file, "--key", stranger.key).succeeded()
        let before = try Tree("\(workshop.site)/metadata")
        try await Command.run("publish", workshop.vault).failed(77, naming: "pending")
        #expect(try Tree("\(workshop.site)/metadata") == before)
    }

    /// The source moved on while a file waited: what was signed for the old one is not published.
    @Test func theSourceMovedOn() async throws {
        try await Command.run("trust", "sign", file, "--key", key).succeeded()
        let signed = try folder.json("vault/pending/2.targets.json") as JSONValue
        try folder.write("level/file", "version 3")
        try await Command.run("publish", workshop.vault).failed(77, naming: "pending")
        let anew = try folder.json("vault/pending/2.targets.json") as JSONValue
        #expect(anew["signatures"] == [] && anew["signed", "targets"] != signed["signed", "targets"])
        try await Command.run("trust", "sign", file, "--key", key).succeeded()
        try await workshop.publish()
        try await workshop.fetch().succeeded()
        #expect(try await workshop.tree(of: "level") == Tree(folder["level"]))
    }

    /// The site moved on while a file waited: it is written anew under the version that is next.
    @Test func theSiteMovedOn() async throws {
        let old = try folder.bytes("vault/pending/2.targets.json")
        try workshop.bringBack("targets.pem")
        try folder.write("level/file", "version 3")
        try await workshop.publish()
        #expect(try workshop.pending() == [])
        try workshop.takeAway("targets.pem")
        try folder.write("vault/pending/2.targets.json", old)
        try await Command.run("trust", "sign", file, "--key", key).succeeded()
        try folder.write("level/file", "version 4")
        try await Command.run("publish", workshop.vault).failed(77, naming: "pending")
        #expect(try workshop.pending().contains("3.targets.json"))
        try await Command.run("trust", "sign", folder["vault/pending/3.targets.json"], "--key", key)
            .succeeded()
        try await workshop.publish()
        #expect(try workshop.pending() == [])
        try await workshop.fetch().succeeded()
        #expect(try await workshop.tree(of: "level") == Tree(folder["level"]))
    }

    /// A root that waited while another one was published is not the next one any more.
    @Test func anotherRootCameFirst() async throws {
        try workshop.bringBack("targets.pem")
        try workshop.takeAway("root.pem")
        try await workshop.trust("rotate", "timestamp").succeeded()
        let waiting = try folder.bytes("vault/pending/2.root.json")
        try workshop.bringBack("root.pem")
        try await workshop.publish()
        #expect(try workshop.metadata().contains("2.root.json") && workshop.pending() == [])
        try folder.write("vault/pending/2.root.json", waiting)
        try await workshop.publish()
        #expect(try workshop.pending() == [])
        #expect(try !workshop.metadata().contains("3.root.json"))
    }

    /// With less than a quarter of its period left it would have to be signed again at once.
    @Test func signedTooLongAgo() async throws {
        try await Command.run("trust", "sign", file, "--key", key).succeeded()
        let later = ["faketime", "+300 days"]
        let before = try workshop.metadata()
        try await Command.run("publish", workshop.vault, through: later).failed(
            76, naming: "2.targets.json", "too long ago")
        // The root, which waits for nothing, was renewed.
        #expect(try workshop.metadata() == before.union(["2.root.json"]))
        let anew = try folder.json("vault/pending/2.targets.json") as JSONValue
        #expect(anew["signatures"] == [])
        try await Command.run("trust", "sign", file, "--key", key).succeeded()
        try await workshop.publish(through: later)
        try await workshop.fetch(through: later).succeeded()
        #expect(try await workshop.tree(of: "level") == Tree(folder["level"]))
    }
}
