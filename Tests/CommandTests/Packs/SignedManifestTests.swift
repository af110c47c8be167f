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

    /// Not reported as a pack that the site does not list.
    @Test(arguments: [1, 2]) func aFailingDiskIsReported(call: Int) async throws {
        try await publish()
        let failing = ["-e", "inject=pread64:error=EIO:when=\(call)+"]
        let open = ["open", samplePack.pack, "-o", samplePack.folder["out"]] + trust + keys
        try await Command.run(
            open, through: ["strace", "-f", "-qq", "-o", "/dev/null", "-P", samplePack.pack] + failing
        ).failed(74, naming: "level.avpack")
    }
}
