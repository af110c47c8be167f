public import AssetVault

extension PackID {
    /// An ID that is a literal in the program, such as `PackID(constant: "levels/one")`. A mistake in it ends the program
    /// at its first use: what comes from elsewhere takes ``PackID/init(_:)``, which throws.
    public init(constant text: StaticString) {
        do { self = try PackID(text.description) } catch { fatalError(error.description) }
    }
}

extension EntryPath {
    /// A path that is a literal in the program, such as `EntryPath(constant: "maps/start.json")`. A mistake in it ends
    /// the program at its first use: what comes from elsewhere takes `init(_:)`, which throws.
    public init(constant text: StaticString) {
        do { self = try EntryPath(text.description) } catch { fatalError(error.description) }
    }
}
