import AssetVault
import Foundation

func example() async throws -> [UInt8] {
    // README: begin
    let trustedRoot = try Data(contentsOf: URL(filePath: "trusted-root.json"))  // made by `assetvault init`
    let client = try VaultClient(
        VaultConfiguration(
            site: try SiteLocation("https://cdn.example.com/game"),
            store: StoreLayout(root: "/var/lib/game"),
            trustedRoot: Array(trustedRoot),
            keys: EnvironmentKeyProvider(variable: "GAME_KEY")))
    try await client.fetch()
    let map = try await client.contents(of: EntryPath("map.json"), in: PackID("levels/one"))
    // README: end
    return map
}
