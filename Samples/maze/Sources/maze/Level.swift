import AssetVault

/// A level is a pack.
struct Level: Sendable {
    let id: PackID
    /// A sealed level is read in place: nothing of it ever stands on the disk in plain.
    let form: PackForm

    /// In the order in which they are played. How each comes here is the publisher's choice, in `vault.json`: the first
    /// with the installation, the second when the game asks, the last long before its key.
    static func all() throws(VaultError) -> [Level] {
        [
            Level(id: try PackID("levels/one"), form: .opened),
            Level(id: try PackID("levels/two"), form: .opened),
            Level(id: try PackID("secret/three"), form: .sealed),
        ]
    }
}
