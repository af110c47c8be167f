public import VaultBase

/// The metadata of one targets role: its files with lengths and hashes, and its delegations (TUF section 4.5).
public struct VerifiedTargets: VerifiedMetadata {
    public let document: MetadataDocument
    /// All files that this role lists, sorted by the bytes of the path.
    public let records: [TargetRecord]
    public private(set) var delegations: Delegations?

    /// The top-level targets. Verifies format and signatures only.
    public init(verifying metadata: UnverifiedMetadata, under root: VerifiedRoot) throws(VaultError) {
        try root.verify(metadata, as: .targets)
        try self.init(reading: metadata.document)
    }

    /// A delegated role. Verifies format and signatures only, against the present delegation.
    public init(
        verifying metadata: UnverifiedMetadata, as delegation: Delegation, by delegator: MetadataRole
    ) throws(VaultError) {
        guard metadata.document.role == delegation.role else {
            throw .malformedMetadata(
                "it is not the metadata of \(delegation.role)", at: metadata.document.place)
        }
        try delegation.trust.verify(metadata, delegatedBy: "the role \(delegator)")
        let document = metadata.document
        if let stated = document.signed[MetadataDraft.roleMember], stated != .string(delegation.role.name) {
            throw .malformedMetadata(
                "it was signed as another role than \(delegation.role)", at: document.place)
        }
        try self.init(reading: document)
    }

    private init(reading document: MetadataDocument) throws(VaultError) {
        let place = document.place
        do throws(VaultError) {
            let table = try document.signed.object("targets", at: place)
            var records: [TargetRecord] = []
            records.reserveCapacity(table.count)
            for (path, value) in table {
                let json = try value.asObject(at: "\(place): target \(path.excerpt)")
                var record = try TargetRecord(path: path, json: json)
                record.signer = document.role
                records.append(record)
            }
            self.records = records
            delegations = try document.signed.optionalObject("delegations", at: place).map {
                delegations throws(VaultError) in
                try Delegations(parsing: delegations, place: place)
            }
        } catch {
            throw error.asUntrusted
        }
        self.document = document
    }

    /// Of named roles, or of bins; empty where there are none.
    public var allDelegations: [Delegation] { delegations?.all ?? [] }

    /// The same without some of the roles that it delegates to.
    func hidingRoles(where isHidden: (MetadataRole) -> Bool) -> VerifiedTargets {
        guard case .roles(let roles)? = delegations else { return self }
        var targets = self
        targets.delegations = .roles(roles.filter { !isHidden($0.role) })
        return targets
    }

    /// This role's record of exactly this path.
    public subscript(path: String) -> TargetRecord? {
        let index = records.indices.partitionPoint {
            !records[$0].path.utf8.lexicographicallyPrecedes(path.utf8)
        }
        guard index < records.count, records[index].path.utf8.elementsEqual(path.utf8) else { return nil }
        return records[index]
    }
}
