import Testing

/// Packs whose manifest comes from a site's signed metadata.
struct SignedManifestTests {
    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    /// Publishes the level and takes the pack out of the site, without a manifest. Not reported as a pack that the site does not list.
    @Test(arguments: [1, 2]) func aFailingDiskIsReported(call: Int) async throws {
        try await sample.run("init $WORK/vault").succeeded()
        try await sample.run("publish $WORK/vault --pack level=$LEVEL").succeeded()
        let packs = try sample.names(in: "vault/site/targets/packs")
        try await sample.copy("vault/site/targets/packs/\(packs[0])", to: sample.pack)
        let trust: Words = "--site $WORK/vault/site --trust $WORK/vault/trusted-root.json"
        try await sample.run(
            "open $PACK -o $WORK/out \(trust) --keys file:$WORK/vault/keys/vault.jwks",
            through: Sandbox.injecting("error=EIO", into: "pread64", on: sample.pack, from: call)
        ).failed(74, naming: "level.avpack")
    }
}
