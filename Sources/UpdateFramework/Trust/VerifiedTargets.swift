import StrictJSON
public import VaultErrors

/// The targets: which files there are, with lengths and hashes (section 4.5). Delegations are not followed.
public struct VerifiedTargets: VerifiedMetadata {
    public let document: MetadataDocument
    /// Every listed file, sorted by the bytes of its path.
    public let records: [TargetRecord]
    private let table: JSONObject

    /// Checks form and signatures only.
    public init(verifying metadata: UnverifiedMetadata, under root: VerifiedRoot) throws(VaultError) {
        try root.verify(metadata, as: .targets)
        document = metadata.document
        let place = metadata.document.place
        do throws(VaultError) {
            table = try document.signed.object("targets", at: place)
            var records: [TargetRecord] = []
            records.reserveCapacity(table.count)
            for (path, value) in table {
                let json = try value.asObject(at: "\(place): target \(path.beginning)")
                records.append(try TargetRecord(path: path, json: json))
            }
            self.records = records
        } catch {
            throw error.asUntrusted
        }
    }

    /// The record of exactly this path, as TUF looks it up.
    public subscript(path: String) -> TargetRecord? {
        guard case .object(let json)? = table[path] else { return nil }
        return try? TargetRecord(path: path, json: json)
    }
}
