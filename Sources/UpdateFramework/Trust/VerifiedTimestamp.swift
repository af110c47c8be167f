import StrictJSON
public import VaultErrors

/// The timestamp: the newest snapshot (TUF section 4.6).
public struct VerifiedTimestamp: VerifiedMetadata {
    public let document: MetadataDocument
    public let snapshot: MetadataReference

    /// Verifies format and signatures only.
    public init(verifying metadata: UnverifiedMetadata, under root: VerifiedRoot) throws(VaultError) {
        try root.verify(metadata, as: .timestamp)
        document = metadata.document
        let place = metadata.document.place
        do throws(VaultError) {
            let entry = try document.signed.object("meta", at: place).object("snapshot.json", at: place)
            snapshot = try MetadataReference(parsing: .object(entry), place: "\(place): snapshot.json")
        } catch {
            throw error.asUntrusted
        }
    }
}
