public import VaultErrors

/// The source of a site's metadata: a host or a folder. It is not trusted.
public protocol MetadataSource: Sendable {
    /// A file in the site's folder of metadata, such as `timestamp.json` or `7.snapshot.json`.
    ///
    /// - Returns: nil when the source has no such file, as with the HTTP statuses 403 and 404.
    /// - Throws: `untrusted` for more than `limit` bytes, `unavailable` when the source can't be reached or fails.
    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]?

    /// The file in errors, such as its URL; by default its name.
    func place(of name: String) -> String
}

extension MetadataSource {
    public func place(of name: String) -> String { name }

    /// One version of a role's file, its signatures not verified; nil when the source does not have it.
    public func metadata(
        of role: MetadataRole, version: Int64
    ) async throws(VaultError) -> UnverifiedMetadata? {
        let name = role.hostedName(version: version)
        guard let bytes = try await metadata(named: name, limit: role.sizeLimit) else { return nil }
        return try UnverifiedMetadata(parsing: bytes, as: role, place: place(of: name))
    }
}
