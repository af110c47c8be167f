import AssetVault

func example(trustedRoot: [UInt8]) async throws -> [UInt8] {
    // README: begin
    let client = try VaultClient(
        VaultConfiguration(
            site: try SiteLocation("https://cdn.example.com/game"),
            store: StoreLayout(root: "/var/lib/game"),
            trustedRoot: trustedRoot,
            keys: EnvironmentKeyProvider(variable: "GAME_KEY")))
    try await client.fetch()
    let map = try await client.contents(of: EntryPath("map.json"), in: PackID("levels/one"))
    // README: end
    return map
}
