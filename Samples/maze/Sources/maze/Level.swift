import AssetVault

/// A level is a pack.
struct Level: Sendable {
    let id: PackID
    /// A sealed level is read in place: its plaintext is never written to disk.
    let form: PackForm

    /// In playing order. The publisher chooses how each is downloaded, in `vault.json`: the first
    /// with the installation, the second when the game asks, the last long before its key.
    static func all() throws(VaultError) -> [Level] {
        [
            Level(id: try PackID("levels/one"), form: .opened),
            Level(id: try PackID("levels/two"), form: .opened),
            Level(id: try PackID("secret/three"), form: .sealed),
        ]
    }
}
