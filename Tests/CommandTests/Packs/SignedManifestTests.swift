import StrictJSON
import Testing

/// Packs whose manifest comes from a site's signed metadata.
struct SignedManifestTests {
    let bench: Bench
    init() throws { bench = try Bench() }

    private var trust: [String] {
        ["--site", bench.folder["vault/site"], "--trust", bench.folder["vault/trusted-root.json"]]
    }

    /// Publishes the level and takes the pack out of the site, without a manifest.
    private func publish() async throws {
        let vault = bench.folder["vault"]
        try await Command.run("init", vault).succeeded()
        try await Command.run("publish", vault, "--pack", "level=\(bench.level)").succeeded()
        let packs = try bench.folder.names(in: "vault/site/targets/packs")
        try await Tool.run("cp", "\(vault)/site/targets/packs/\(packs[0])", bench.pack)
    }

    private var keys: [String] { ["--keys", "file:\(bench.folder["vault/keys/vault.jwks"])"] }

    @Test func openCatAndInspectUseIt() async throws {
        try await publish()
        let opened = bench.folder["opened"]
        try await Command.run(["open", bench.pack, "-o", opened] + trust + keys).succeeded()
        try await expectSameTree(bench.level, opened)
        let file = try await Command.run(["cat", bench.pack, "run.sh"] + trust + keys).succeeded()
        #expect(file.text == "#!/bin/sh\n")
        let report = try await Command.run(["inspect", bench.pack, "--json"] + trust).succeeded()
        let custom = try report.json().asObject(at: "").object("manifest", at: "").object("custom", at: "")
        #expect(try custom.object("assetvault", at: "").string("id", at: "") == "level")
        let all = try await Command.run(["inspect", bench.pack] + trust + keys).succeeded()
        #expect(all.text.contains("noise.bin"))
    }

    /// A pack is identified by its header and footer; other damage is reported as damage.
    @Test func aDamagedPackIsNotOpened() async throws {
        try await publish()
        let bytes = try bench.folder.bytes("level.avpack")
        let report = try await Command.run(["inspect", bench.pack, "--json"] + trust).succeeded()
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
            try bench.folder.write("level.avpack", damaged)
            try await bench.unchanged {
                let open = ["open", bench.pack, "-o", bench.folder["out"]]
                try await Command.run(open + trust + keys).failed(Int32(code), naming: "level.avpack")
            }
        }
        // Inspection reads no pieces.
        var damaged = bytes
        damaged[70] ^= 1
        try bench.folder.write("level.avpack", damaged)
        try await Command.run(["inspect", bench.pack] + trust + keys).succeeded()
    }

    /// Not reported as a pack that the site does not list.
    @Test(arguments: [1, 2]) func aFailingDiskIsReported(call: Int) async throws {
        try await publish()
        let failing = ["-e", "inject=pread64:error=EIO:when=\(call)+"]
        let open = ["open", bench.pack, "-o", bench.folder["out"]] + trust + keys
        try await Command.run(
            open, through: ["strace", "-f", "-qq", "-o", "/dev/null", "-P", bench.pack] + failing
        ).failed(74, naming: "level.avpack")
    }

    @Test func aMissingManifestIsReported() async throws {
        try await publish()
        try await bench.unchanged {
            try await Command.run(["open", bench.pack, "-o", bench.folder["out"]] + keys)
                .failed(66, naming: "level.avpack.json", "--site", "--trust")
        }
    }

    @Test func anUntrustedSiteIsRefused() async throws {
        try await publish()
        try await Command.run("init", bench.folder["other"]).succeeded()
        let open = ["open", bench.pack, "-o", bench.folder["out"]] + keys
        let site = ["--site", bench.folder["vault/site"], "--trust"]
        try await bench.unchanged {
            try await Command.run(open + site + [bench.folder["other/trusted-root.json"]]).failed(76)
            try await Command.run(open + site + [bench.folder["absent"]]).failed(
                66, naming: bench.folder["absent"])
        }
        let targets = try #require(
            bench.folder.names(in: "vault/site/metadata").last { $0.hasSuffix(".targets.json") })
        var metadata = try bench.folder.bytes("vault/site/metadata/\(targets)")
        metadata[metadata.count / 2] ^= 1
        try bench.folder.write("vault/site/metadata/\(targets)", metadata)
        try await bench.unchanged { try await Command.run(open + trust).failed(76) }
    }

    @Test func aPackThatTheSiteDoesNotListIsRefused() async throws {
        try await publish()
        try await bench.seal(nil, as: bench.folder["mine.avpack"])
        try await bench.unchanged {
            let open = ["open", bench.folder["mine.avpack"], "-o", bench.folder["out"]]
            try await Command.run(open + trust + bench.keys).failed(66, naming: "mine.avpack")
        }
    }
}
