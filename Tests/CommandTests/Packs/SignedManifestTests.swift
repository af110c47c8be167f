import StrictJSON
import Testing

/// Packs whose manifest comes from a site's signed metadata.
struct SignedManifestTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    private var trust: [String] {
        ["--site", samplePack.folder["vault/site"], "--trust", samplePack.folder["vault/trusted-root.json"]]
    }

    /// Publishes the level and takes the pack out of the site, without a manifest.
    private func publish() async throws {
        let vault = samplePack.folder["vault"]
        try await Command.run("init", vault).succeeded()
        try await Command.run("publish", vault, "--pack", "level=\(samplePack.level)").succeeded()
        let packs = try samplePack.folder.names(in: "vault/site/targets/packs")
        try await Tool.run("cp", "\(vault)/site/targets/packs/\(packs[0])", samplePack.pack)
    }

    private var keys: [String] { ["--keys", "file:\(samplePack.folder["vault/keys/vault.jwks"])"] }

    @Test func openCatAndInspectUseIt() async throws {
        try await publish()
        let opened = samplePack.folder["opened"]
        try await Command.run(["open", samplePack.pack, "-o", opened] + trust + keys).succeeded()
        try await expectSameTree(samplePack.level, opened)
        let file = try await Command.run(["cat", samplePack.pack, "run.sh"] + trust + keys).succeeded()
        #expect(file.text == "#!/bin/sh\n")
        let report = try await Command.run(["inspect", samplePack.pack, "--json"] + trust).succeeded()
        let custom = try report.json().asObject(at: "").object("manifest", at: "").object("custom", at: "")
        #expect(try custom.object("assetvault", at: "").string("id", at: "") == "level")
        let all = try await Command.run(["inspect", samplePack.pack] + trust + keys).succeeded()
        #expect(all.text.contains("noise.bin"))
    }

    /// A pack is identified by its header and footer; other damage is reported as damage.
    @Test func aDamagedPackIsNotOpened() async throws {
        try await publish()
        let bytes = try samplePack.folder.bytes("level.avpack")
        let report = try await Command.run(["inspect", samplePack.pack, "--json"] + trust).succeeded()
        let custom = try report.json().asObject(at: "").object("manifest", at: "").object("custom", at: "")
        let catalog = try custom.object("assetvault", at: "").object("catalog", at: "").integer(
            "length", at: "")
        let footer = bytes.count - 128
        // A piece, the last one, the index's end, the catalog, its place in the footer; then key ID and catalog digest.
        let places = [
            (70, 65), (footer / 2, 65), (footer - Int(catalog) - 1, 65), (footer - 10, 65), (footer + 28, 65),
            (20, 66), (footer + 70, 66),
        ]
        for (offset, code) in places {
            var damaged = bytes
            damaged[offset] ^= 1
            try samplePack.folder.write("level.avpack", damaged)
            try await samplePack.unchanged {
                let open = ["open", samplePack.pack, "-o", samplePack.folder["out"]]
                try await Command.run(open + trust + keys).failed(Int32(code), naming: "level.avpack")
            }
        }
        // Inspection reads no pieces.
        var damaged = bytes
        damaged[70] ^= 1
        try samplePack.folder.write("level.avpack", damaged)
        try await Command.run(["inspect", samplePack.pack] + trust + keys).succeeded()
    }

    /// Not reported as a pack that the site does not list.
    @Test(arguments: [1, 2]) func aFailingDiskIsReported(call: Int) async throws {
        try await publish()
        let failing = ["-e", "inject=pread64:error=EIO:when=\(call)+"]
        let open = ["open", samplePack.pack, "-o", samplePack.folder["out"]] + trust + keys
        try await Command.run(
            open, through: ["strace", "-f", "-qq", "-o", "/dev/null", "-P", samplePack.pack] + failing
        ).failed(74, naming: "level.avpack")
    }

    @Test func aMissingManifestIsReported() async throws {
        try await publish()
        try await samplePack.unchanged {
            try await Command.run(["open", samplePack.pack, "-o", samplePack.folder["out"]] + keys)
                .failed(66, naming: "level.avpack.json", "--site", "--trust")
        }
    }

    @Test func anUntrustedSiteIsRefused() async throws {
        try await publish()
        try await Command.run("init", samplePack.folder["other"]).succeeded()
        let open = ["open", samplePack.pack, "-o", samplePack.folder["out"]] + keys
        let site = ["--site", samplePack.folder["vault/site"], "--trust"]
        try await samplePack.unchanged {
            try await Command.run(open + site + [samplePack.folder["other/trusted-root.json"]]).failed(76)
            try await Command.run(open + site + [samplePack.folder["absent"]]).failed(
                66, naming: samplePack.folder["absent"])
        }
        let targets = try #require(
            samplePack.folder.names(in: "vault/site/metadata").last { $0.hasSuffix(".targets.json") })
        var metadata = try samplePack.folder.bytes("vault/site/metadata/\(targets)")
        metadata[metadata.count / 2] ^= 1
        try samplePack.folder.write("vault/site/metadata/\(targets)", metadata)
        try await samplePack.unchanged { try await Command.run(open + trust).failed(76) }
    }

    @Test func aPackThatTheSiteDoesNotListIsRefused() async throws {
        try await publish()
        try await samplePack.seal(nil, as: samplePack.folder["mine.avpack"])
        try await samplePack.unchanged {
            let open = ["open", samplePack.folder["mine.avpack"], "-o", samplePack.folder["out"]]
            try await Command.run(open + trust + samplePack.keys).failed(66, naming: "mine.avpack")
        }
    }
}
