import StrictJSON
import SystemPackage
import Testing
import VaultBytes

struct SealTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    @Test(arguments: [0o000, 0o077] as [UInt16])
    func writesOnlyPackAndManifest(umask: UInt16) async throws {
        let before = try samplePack.folder.names()
        let result = try await Command.run(
            ["seal", samplePack.level, "-o", samplePack.pack] + samplePack.keys, umask: umask
        ).succeeded()
        #expect(result.output == [])
        #expect(try samplePack.folder.names() == (before + ["level.avpack", "level.avpack.json"]).sorted())
        #expect(try samplePack.folder.permissions("level.avpack") == 0o644)
        #expect(try samplePack.folder.permissions("level.avpack.json") == 0o644)
        let manifest = try samplePack.manifest()
        #expect(try manifest.string("id", at: "") == "level")
        #expect(try manifest.integer("version", at: "") == 1)
        let slots = try manifest.array("slots", at: "").map { try $0.asObject(at: "") }
        #expect(try slots.map { try $0.string("kid", at: "") } == [SamplePack.keyID])
        let wrapped = try Base64URL.decode(slots[0].string("wrapped", at: "").utf8)
        #expect(wrapped?.count == 40)
    }

    @Test(arguments: [("Level-One", "level-one"), ("LEVEL.1", "level.1"), ("sub/Folder", "folder")])
    func takesTheIDFromTheSource(source: String, id: String) async throws {
        try samplePack.folder.write("\(source)/file", "x")
        for ending in ["", "/", "/."] {
            let pack = try await samplePack.seal(
                samplePack.folder[source] + ending, as: samplePack.folder["p"], "--force")
            #expect(pack == samplePack.folder["p"])
            #expect(try samplePack.manifest("p.json").string("id", at: "") == id)
        }
    }

    @Test func takesTheIDFromAnArchiveWithoutItsEnding() async throws {
        for ending in ["tar", "tar.gz", "TGZ", "tar.zst"] {
            let archive = samplePack.folder["Level One".replacing(" ", with: "") + ".\(ending)"]
            try await Tool.run("tar", "caf", archive, "-C", samplePack.level, ".")
            try await samplePack.seal(archive, as: samplePack.folder["p"], "--force")
            #expect(try samplePack.manifest("p.json").string("id", at: "") == "levelone")
        }
    }

    @Test func usesTheGivenIDAndVersion() async throws {
        try await samplePack.seal(
            nil, as: nil, "--id", "levels/one.b_c-d", "--pack-version", "9007199254740991")
        #expect(try samplePack.manifest().string("id", at: "") == "levels/one.b_c-d")
        #expect(try samplePack.manifest().integer("version", at: "") == 9_007_199_254_740_991)
        try await samplePack.open(into: samplePack.folder["opened"]).succeeded()
        try await expectSameTree(samplePack.level, samplePack.folder["opened"])
    }

    @Test func printsTheManifestAsJSON() async throws {
        let result = try await Command.run(
            ["seal", samplePack.level, "-o", samplePack.pack, "--json"] + samplePack.keys
        ).succeeded()
        #expect(result.output == (try samplePack.folder.bytes("level.avpack.json")))
        _ = try result.json()
        // A failed output is a failure, though the pack is complete.
        let full = try await Command.run(
            ["seal", samplePack.level, "-o", samplePack.pack, "--json", "--force"] + samplePack.keys,
            through: Command.shell("exec \"$@\" > /dev/full"))
        full.failed(71, naming: "standard output")
    }

    @Test func readsStandardInputAndWritesStandardOutput() async throws {
        let tar = try await Tool.run("tar", "c", "-C", samplePack.level, ".").output
        let result = try await Command.run(
            ["seal", "-", "-o", "-", "--manifest", samplePack.folder["there.json"], "--id", "level"]
                + samplePack.keys,
            input: tar
        ).succeeded()
        try samplePack.folder.write("piped.avpack", result.output)
        let opened = samplePack.folder["opened"]
        try await samplePack.open(
            samplePack.folder["piped.avpack"], into: opened, "--manifest", samplePack.folder["there.json"]
        )
        .succeeded()
        try await expectSameTree(samplePack.level, opened)
        #expect(
            try samplePack.folder.names() == ["level", "opened", "piped.avpack", "there.json", "vault.jwks"])
    }

    @Test func writesTheManifestToTheGivenPath() async throws {
        try await samplePack.seal(nil, as: nil, "--manifest", samplePack.folder["elsewhere"])
        #expect(try !samplePack.folder.exists("level.avpack.json"))
        try await samplePack.open(into: samplePack.folder["a"]).failed(
            66, naming: "level.avpack.json", "--site")
        try await samplePack.open(into: samplePack.folder["b"], "--manifest", samplePack.folder["elsewhere"])
            .succeeded()
    }

    @Test func wrapsForEveryKey() async throws {
        let other = samplePack.folder["other.jwks"]
        try samplePack.folder.write(
            "other.jwks", SamplePack.jwk(SamplePack.noise(32), id: "other"), permissions: 0o600)
        try await samplePack.seal(nil, as: nil, "--keys", "file:\(other)")
        let slots = try samplePack.manifest().array("slots", at: "").map { try $0.asObject(at: "") }
        #expect(try slots.map { try $0.string("kid", at: "") } == [SamplePack.keyID, "other"])
        let result = try await Command.run(
            "open", samplePack.pack, "-o", samplePack.folder["opened"], "--keys", "file:\(other)")
        try result.succeeded()
    }
}
