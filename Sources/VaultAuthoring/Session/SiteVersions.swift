import UpdateFramework
import VaultCrypto
import VaultErrors

/// The versions by which published sites follow each other: of the root, the timestamp, the snapshot, and the roles that a vault signs
/// itself.
struct SiteVersions: Equatable {
    /// Before anything was published.
    static let none = SiteVersions([:])

    private let versions: [MetadataRole: Int64]

    private init(_ versions: [MetadataRole: Int64]) { self.versions = versions }

    init(_ tree: TargetTree) {
        let chain = tree.chain
        var versions = Dictionary(
            CurrentSite.ownRoles(of: tree).map { ($0.document.role, $0.version) }
        ) { first, _ in first }
        versions[.root] = chain.root.version
        versions[.timestamp] = chain.timestamp.version
        versions[.snapshot] = chain.snapshot.version
        self.versions = versions
    }

    /// As far as the snapshot is known, which need not be where the timestamp is.
    init(_ seen: SeenMetadata) {
        var versions: [MetadataRole: Int64] = [
            .root: seen.root.version, .timestamp: seen.timestamp.version,
            .snapshot: seen.timestamp.snapshot.version,
        ]
        versions[.targets] = seen.snapshot?.targets.version
        self.versions = versions
    }

    /// 0 for a role that was not published.
    subscript(role: MetadataRole) -> Int64 { versions[role] ?? 0 }

    var root: Int64 { self[.root] }

    enum Standing: Equatable {
        /// The same site, or a later one.
        case follows
        /// This role has a lower version, and clients forget the higher one.
        case forgotten(MetadataRole)
        /// A rollback of this role.
        case older(MetadataRole)

        var isOlder: Bool { if case .older = self { true } else { false } }
    }

    /// Each role by itself: versions begin again only after a root that removed a key of the role (``Swift/Array/mayLower(_:since:)``). With
    /// any other root, an older version is a rollback.
    ///
    /// - Parameter roots: from the first one to the root of these versions.
    func standing(after earlier: SiteVersions, under roots: [VerifiedRoot]) -> Standing {
        guard root >= earlier.root else { return .older(.root) }
        let others = earlier.versions.keys.filter { $0 != .timestamp }.sorted()
        // The timestamp first, as clients read it.
        let lower = ([.timestamp] + others).filter { role in
            versions[role].map { $0 < earlier[role] } ?? false
        }
        if let role = lower.first(where: { !roots.mayLower($0.type, since: earlier.root) }) {
            return .older(role)
        }
        return lower.first.map { Standing.forgotten($0) } ?? .follows
    }
}

// MARK: - Words

extension SiteVersions {
    func problem(of role: MetadataRole, after earlier: SiteVersions) -> String {
        // A lower root alone says little: the timestamp is what people know.
        let role = role == .root ? MetadataRole.timestamp : role
        return
            "it has \(role) version \(self[role]) under root version \(root), but version \(earlier[role]) was published from here, under"
            + " root version \(earlier.root)"
    }

    func warning(of role: MetadataRole, after earlier: SiteVersions) -> Finding {
        .warning(
            "forgotten-version", problem(of: role, after: earlier), at: role.name,
            remedy:
                "clients forget that, since its key was replaced: make sure that this is your newest publication"
        )
    }

    /// See ``VaultFolder/remember(_:)``.
    func text(of timestamp: SHA256Digest) -> String {
        let others = versions.filter { $0.key != .root && $0.key != .timestamp }
        let names = others.map { $0.key.hostedName(version: $0.value) }.sorted()
        return (["\(root) \(self[.timestamp]) \(timestamp.hex)"] + names).map { "\($0)\n" }.joined()
    }

    /// Nil for what ``text(of:)`` does not write.
    static func parse(_ text: String) -> (SiteVersions, SHA256Digest)? {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.popLast() == "", !lines.isEmpty else { return nil }
        let parts = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, let root = Int64(parts[0]), root >= 1, let timestamp = Int64(parts[1]),
            timestamp >= 1, let digest = SHA256Digest(hex: String(parts[2]))
        else { return nil }
        var versions: [MetadataRole: Int64] = [.root: root, .timestamp: timestamp]
        for line in lines {
            guard let file = MetadataFileName(hostedName: String(line)), let role = file.role,
                versions.updateValue(file.version, forKey: role) == nil
            else { return nil }
        }
        return (SiteVersions(versions), digest)
    }
}
