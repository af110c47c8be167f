public import VaultErrors

/// Where a site's metadata comes from: a host, a folder. It is not trusted in any way.
public protocol MetadataSource: Sendable {
    /// The file of this name in the site's folder of metadata, such as `timestamp.json` or `7.snapshot.json`.
    ///
    /// - Returns: nil when the source says that it has none, as with the HTTP statuses 403 and 404.
    /// - Throws: `untrusted` as soon as there are more than `limit` bytes, `unavailable` when the source can't
    ///   be reached or fails.
    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]?

    /// What errors call the file of this name, such as its URL; the name alone by default.
    func place(of name: String) -> String
}

extension MetadataSource {
    public func place(of name: String) -> String { name }
}
