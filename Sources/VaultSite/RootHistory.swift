public import UpdateFramework
public import VaultErrors

/// All roots in a site's folder of metadata, from a given one on, each believed because of the one before it.
public struct RootHistory: Sendable {
    public let roots: [VerifiedRoot]

    public init(in folder: MetadataFolder, from first: VerifiedRoot) throws(VaultError) {
        var newest = first
        var roots = [first]
        while case let name = MetadataRole.root.hostedName(version: newest.version + 1),
            let bytes = try folder.file(named: name, limit: MetadataRole.root.sizeLimit)
        {
            let next = try UnverifiedMetadata(parsing: bytes, as: .root, place: folder.place(of: name))
            newest = try newest.successor(verifying: next)
            roots.append(newest)
        }
        self.roots = roots
    }
}
