import StrictJSON
public import VaultErrors

/// The snapshot: which version of every targets file belongs together (section 4.4).
public struct VerifiedSnapshot: VerifiedMetadata {
    public let document: MetadataDocument
    public let targets: MetadataReference
    /// Everything listed, delegated roles too, by file name.
    private let versions: JSONObject

    /// Checks form and signatures only.
    public init(verifying metadata: UnverifiedMetadata, under root: VerifiedRoot) throws(VaultError) {
        try root.verify(metadata, as: .snapshot)
        document = metadata.document
        let place = metadata.document.place
        do throws(VaultError) {
            let meta = try document.signed.object("meta", at: place)
            var versions = JSONObject()
            for (name, value) in meta {
                let place = "\(place): \(name.beginning)"
                versions[name] = .integer(try value.asObject(at: place).version(at: place))
            }
            let entry = try meta.object("targets.json", at: place)
            targets = try MetadataReference(parsing: .object(entry), place: "\(place): targets.json")
            self.versions = versions
        } catch {
            throw error.asUntrusted
        }
    }

    /// Checks that nothing an older snapshot lists is missing here or has a lower version (section 5.5.5).
    func requireNothingOlder(than older: VerifiedSnapshot) throws(VaultError) {
        guard version >= older.version else {
            throw .rollback(
                "version \(version) is older than the trusted version \(older.version)", at: document.place)
        }
        for (name, value) in older.versions {
            guard case .integer(let trusted) = value, case .integer(let found)? = versions[name] else {
                throw .rollback("it lists \(name.beginning) no more", at: document.place)
            }
            guard found >= trusted else {
                throw .rollback(
                    "it lists \(name.beginning) version \(found), which is older than the trusted version \(trusted)",
                    at: document.place)
            }
        }
    }
}
