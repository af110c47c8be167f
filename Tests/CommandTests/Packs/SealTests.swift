import StrictJSON
import SystemPackage
import Testing
import VaultBytes

struct SealTests {
    let bench: Bench
    init() throws { bench = try Bench() }

    @Test(arguments: [0o000, 0o077] as [UInt16])
    func writesOnlyPackAndManifest(umask: UInt16) async throws {
        let before = try bench.folder.names()
        let result = try await Command.run(
            ["seal", bench.level, "-o", bench.pack] + bench.keys, umask: umask
        ).succeeded()
        #expect(result.output == [])
        #expect(try bench.folder.names() == (before + ["level.avpack", "level.avpack.json"]).sorted())
        #expect(try bench.folder.permissions("level.avpack") == 0o644)
        #expect(try bench.folder.permissions("level.avpack.json") == 0o644)
        let manifest = try bench.manifest()
        #expect(try manifest.string("id", at: "") == "level")
        #expect(try manifest.integer("version", at: "") == 1)
        let slots = try manifest.array("slots", at: "").map { try $0.asObject(at: "") }
        #expect(try slots.map { try $0.string("kid", at: "") } == [Bench.keyID])
        let wrapped = try Base64URL.decode(slots[0].string("wrapped", at: "").utf8)
        #expect(wrapped?.count == 40)
    }

    @Test(arguments: [("Level-One", "level-one"), ("LEVEL.1", "level.1"), ("sub/Folder", "folder")])
    func takesTheIDFromTheSource(source: String, id: String) async throws {
        try bench.folder.write("\(source)/file", "x")
        for ending in ["", "/", "/."] {
            let pack = try await bench.seal(bench.folder[source] + ending, as: bench.folder["p"], "--force")
            #expect(pack == bench.folder["p"])
            #expect(try bench.manifest("p.json").string("id", at: "") == id)
        }
    }

    @Test func takesTheIDFromAnArchiveWithoutItsEnding() async throws {
        for ending in ["tar", "tar.gz", "TGZ", "tar.zst"] {
            let archive = bench.folder["Level One".replacing(" ", with: "") + ".\(ending)"]
            try await Tool.run("tar", "caf", archive, "-C", bench.level, ".")
            try await bench.seal(archive, as: bench.folder["p"], "--force")
            #expect(try bench.manifest("p.json").string("id", at: "") == "levelone")
        }
    }

    @Test func usesTheGivenIDAndVersion() async throws {
        try await bench.seal(nil, as: nil, "--id", "levels/one.b_c-d", "--pack-version", "9007199254740991")
        #expect(try bench.manifest().string("id", at: "") == "levels/one.b_c-d")
        #expect(try bench.manifest().integer("version", at: "") == 9_007_199_254_740_991)
        try await bench.open(into: bench.folder["opened"]).succeeded()
        try await expectSameTree(bench.level, bench.folder["opened"])
    }

    @Test func printsTheManifestAsJSON() async throws {
        let result = try await Command.run(
            ["seal", bench.level, "-o", bench.pack, "--json"] + bench.keys
        ).succeeded()
        #expect(result.output == (try bench.folder.bytes("level.avpack.json")))
        _ = try result.json()
        // A failed output is a failure, though the pack is complete.
        let full = try await Command.run(
            ["seal", bench.level, "-o", bench.pack, "--json", "--force"] + bench.keys,
            through: Command.shell("exec \"$@\" > /dev/full"))
        full.failed(74, naming: "standard output")
    }

    @Test func readsStandardInputAndWritesStandardOutput() async throws {
        let tar = try await Tool.run("tar", "c", "-C", bench.level, ".").output
        let result = try await Command.run(
            ["seal", "-", "-o", "-", "--manifest", bench.folder["there.json"], "--id", "level"]
                + bench.keys,
            input: tar
        ).succeeded()
        try bench.folder.write("piped.avpack", result.output)
        let opened = bench.folder["opened"]
        try await bench.open(
            bench.folder["piped.avpack"], into: opened, "--manifest", bench.folder["there.json"]
        )
        .succeeded()
        try await expectSameTree(bench.level, opened)
        #expect(
            try bench.folder.names() == ["level", "opened", "piped.avpack", "there.json", "vault.jwks"])
    }

    @Test func writesTheManifestToTheGivenPath() async throws {
        try await bench.seal(nil, as: nil, "--manifest", bench.folder["elsewhere"])
        #expect(try !bench.folder.exists("level.avpack.json"))
        try await bench.open(into: bench.folder["a"]).failed(66, naming: "level.avpack.json", "--site")
        try await bench.open(into: bench.folder["b"], "--manifest", bench.folder["elsewhere"]).succeeded()
    }

    @Test func wrapsForEveryKey() async throws {
        let other = bench.folder["other.jwks"]
        try bench.folder.write("other.jwks", Bench.jwk(Bench.noise(32), id: "other"), permissions: 0o600)
        try await bench.seal(nil, as: nil, "--keys", "file:\(other)")
        let slots = try bench.manifest().array("slots", at: "").map { try $0.asObject(at: "") }
        #expect(try slots.map { try $0.string("kid", at: "") } == [Bench.keyID, "other"])
        let result = try await Command.run(
            "open", bench.pack, "-o", bench.folder["opened"], "--keys", "file:\(other)")
        try result.succeeded()
    }
}
