import StrictJSON
import VaultBytes
public import VaultErrors

/// The snapshot: which version of every targets file belongs together (section 4.4).
public struct VerifiedSnapshot: VerifiedMetadata {
    public let document: MetadataDocument
    /// The top-level targets.
    public let targets: MetadataReference
    /// Everything listed, delegated roles too, by the names of their files.
    private let references: [String: MetadataReference]

    /// Checks form and signatures only.
    public init(verifying metadata: UnverifiedMetadata, under root: VerifiedRoot) throws(VaultError) {
        try root.verify(metadata, as: .snapshot)
        document = metadata.document
        let place = metadata.document.place
        do throws(VaultError) {
            let meta = try document.signed.object("meta", at: place)
            var references: [String: MetadataReference] = [:]
            for (name, value) in meta {
                let place = "\(place): \(name.beginning)"
                // Keys by their bytes: two that merely look alike must not stand in for each other.
                references[PercentEncoding.encode(name)] = try MetadataReference(parsing: value, place: place)
            }
            let entry = try meta.object(MetadataRole.targets.listedName, at: place)
            targets = try MetadataReference(parsing: .object(entry), place: "\(place): targets.json")
            self.references = references
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
        for (name, trusted) in older.references.sorted(by: { $0.key < $1.key }) {
            guard let found = references[name] else {
                throw .rollback("it lists \(name.beginning) no more", at: document.place)
            }
            guard found.version >= trusted.version else {
                throw .rollback(
                    "it lists \(name.beginning) version \(found.version), which is older than the trusted version"
                        + " \(trusted.version)", at: document.place)
            }
        }
    }

    /// What is listed for a role; nil for one that is not listed, which then must not be believed.
    public subscript(role: MetadataRole) -> MetadataReference? { references[role.fileName] }
}
