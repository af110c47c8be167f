public import VaultBase

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

/// The snapshot: the versions of all targets files that belong together (TUF section 4.4).
public struct VerifiedSnapshot: VerifiedMetadata {
    public let document: MetadataDocument
    /// The top-level targets.
    public let targets: MetadataReference
    /// All entries, delegated roles included, by file name.
    private let references: [String: MetadataReference]

    /// Verifies format and signatures only.
    public init(verifying metadata: UnverifiedMetadata, under root: VerifiedRoot) throws(VaultError) {
        try root.verify(metadata, as: .snapshot)
        document = metadata.document
        let place = metadata.document.place
        do throws(VaultError) {
            let meta = try document.signed.object("meta", at: place)
            var references: [String: MetadataReference] = [:]
            for (name, value) in meta {
                let place = "\(place): \(name.excerpt)"
                // Encoded, so that they compare by bytes: names that only look alike are different.
                references[PercentEncoding.encode(name)] = try MetadataReference(parsing: value, place: place)
            }
            let entry = try meta.object(MetadataRole.targets.listedName, at: place)
            targets = try MetadataReference(parsing: .object(entry), place: "\(place): targets.json")
            self.references = references
        } catch {
            throw error.asUntrusted
        }
    }

    /// Checks that no entry of an older snapshot is missing or has a lower version (TUF section 5.5.5).
    func requireNothingOlder(than older: VerifiedSnapshot) throws(VaultError) {
        guard version >= older.version else {
            throw .rollback(
                "version \(version) is older than the trusted version \(older.version)", at: document.place)
        }
        for (name, trusted) in older.references.sorted(by: { $0.key < $1.key }) {
            guard let found = references[name] else {
                throw .rollback("it no longer lists \(name.excerpt)", at: document.place)
            }
            guard found.version >= trusted.version else {
                throw .rollback(
                    "it lists \(name.excerpt) version \(found.version), which is older than the trusted version"
                        + " \(trusted.version)", at: document.place)
            }
        }
    }

    /// By file name.
    var listedVersions: [String: Int64] { references.mapValues(\.version) }

    /// All delegated roles that it lists.
    var delegatedRoles: [MetadataRole] {
        references.keys.compactMap { name in
            guard name.hasSuffix(".json"), let plain = PercentEncoding.decode(name.dropLast(5).utf8) else {
                return nil
            }
            return MetadataRole(delegated: String(decoding: plain, as: UTF8.self))
        }
    }

    /// The files that it lists, by their names at a host with consistent snapshots.
    public var hostedNames: [String] {
        ([.targets] + delegatedRoles).compactMap { role in
            self[role].map { role.hostedName(version: $0.version) }
        }
    }

    /// The entry of a role; nil when it is not listed, and therefore not trusted.
    public subscript(role: MetadataRole) -> MetadataReference? { references[role.fileName] }
}

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

    /// The same without some of the roles that it delegates to.
    func hidingRoles(where isHidden: (MetadataRole) -> Bool) -> VerifiedTargets {
        guard case .roles(let roles)? = delegations else { return self }
        var targets = self
        targets.delegations = .roles(roles.filter { !isHidden($0.role) })
        return targets
    }

    /// This role's record of exactly this path.
    public subscript(path: String) -> TargetRecord? {
        var (low, high) = (0, records.count)
        while low < high {
            let middle = low + (high - low) / 2
            if records[middle].path.utf8.lexicographicallyPrecedes(path.utf8) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < records.count, records[low].path.utf8.elementsEqual(path.utf8) else { return nil }
        return records[low]
    }
}
