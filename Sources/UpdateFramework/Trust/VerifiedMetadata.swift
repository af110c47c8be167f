public import VaultBase
public import VaultCrypto

/// Metadata with verified signatures. It may still be outdated: see ``TrustChain``.
public protocol VerifiedMetadata: Sendable {
    var document: MetadataDocument { get }
}

extension VerifiedMetadata {
    /// At least 1.
    public var version: Int64 { document.version }
    public var expires: UTCTime { document.expires }
    /// The file, exactly as received.
    public var bytes: [UInt8] { document.bytes }
    /// The SHA-256 of the file, which roots are pinned by.
    public var digest: SHA256Digest { SHA256.hash(bytes.span) }
    /// The whole signed part, members unknown to this library included.
    public var json: JSONObject { document.signed }

    /// Whether it has expired at this time.
    public func hasExpired(at now: UTCTime) -> Bool {
        document.expires <= now
    }

    func requireCurrent(at now: UTCTime) throws(VaultError) {
        guard !hasExpired(at: now) else {
            throw .expired(
                expires, now: now, at: "\(document.place) (\(document.role) version \(version))")
        }
    }
}

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
