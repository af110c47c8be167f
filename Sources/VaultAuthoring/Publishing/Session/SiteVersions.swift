import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem

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
        // The version of the root alone says little: users know the timestamp.
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

/// The versions that this vault published last: a line `ROOT TIMESTAMP SHA256` with the versions of both, then the names of the
/// other files, such as `7.snapshot.json`. Clients would refuse metadata that follow older ones, such as a restored backup of
/// `site/`.
extension VaultFolder {
    private var memory: FilePath { path.appending(".published") }

    /// Throws `untrusted` when the site is older than what clients may have seen. Returns a warning for the user.
    func requireNewest(_ tree: TargetTree?) async throws(VaultError) -> [Finding] {
        let versions = tree.map { SiteVersions($0) } ?? .none
        let last = try lastPublished().versions
        let roots =
            try await RootHistory(fromFirstRootOf: MetadataFolder(metadata), upTo: versions.root)?.roots
            ?? []
        switch versions.standing(after: last, under: roots) {
        case .follows: return []
        case .forgotten(let role): return [versions.warning(of: role, after: last)]
        case .older(let role):
            throw VaultError(
                .untrusted, versions.problem(of: role, after: last), at: site.string,
                remedy:
                    "get the newest site/ from your host or backup, or continue from the state of the host",
                hint: .publishingFromHost)
        }
    }

    /// Throws `untrusted` when a host is older than what was published from here, or waits to be uploaded. Returns a warning for
    /// the user.
    ///
    /// - Parameter roots: the host's, from the first one on.
    func requireNoNewer(
        than tree: TargetTree, under roots: [VerifiedRoot], at place: String
    ) async throws(VaultError) -> [Finding] {
        let hosted = SiteVersions(tree)
        let toUpload = try await versionsToUpload(after: roots)
        let last = try lastPublished().versions
        var warnings: [Finding] = []
        for earlier in [last, toUpload] {
            switch hosted.standing(after: earlier, under: roots) {
            case .follows: continue
            case .forgotten(let role): warnings.append(hosted.warning(of: role, after: earlier))
            case .older(let role):
                let waits = hosted.standing(after: toUpload, under: roots).isOlder
                throw VaultError(
                    .untrusted, hosted.problem(of: role, after: earlier), at: place,
                    remedy: waits
                        ? uploadRemedy
                        : "find out why the host went back; remove \(memory) if version"
                            + " \(earlier[role]) was never uploaded"
                )
            }
        }
        return Array(warnings.prefix(1))
    }

    private var uploadRemedy: String {
        "upload \(site) first; where that is refused, since another publisher has taken its numbers, or to discard it,"
            + " remove \(memory), and all but *.root.json from \(siteMetadata): no client has seen their content"
    }

    /// Of the timestamp in the site's folder, with the newest of the host's roots that verifies it.
    private func versionsToUpload(after roots: [VerifiedRoot]) async throws(VaultError) -> SiteVersions {
        do throws(VaultError) {
            guard let seen = try await SeenMetadata(in: MetadataFolder(siteMetadata), under: roots) else {
                return .none
            }
            return SiteVersions(seen)
        } catch {
            guard error.category == .untrusted else { throw error }
            // Its root is not at the host.
            throw VaultError(
                .untrusted, "none of the host's roots names the keys that signed it", at: error.place,
                remedy: uploadRemedy)
        }
    }

    /// Whether a site has other content under the version that was last published from here: another publisher's
    /// upload replaced it.
    ///
    /// - Parameter roots: those of the tree, from the first one on.
    func isReplaced(by tree: TargetTree, under roots: [VerifiedRoot]) throws(VaultError) -> Bool {
        let (last, digest) = try lastPublished()
        let timestamp = tree.chain.timestamp
        return timestamp.version == last[.timestamp] && timestamp.digest != digest
            && !roots.resetsVersions(since: last.root)
    }

    /// Remembers a site that was published on top of one that follows what was remembered before.
    func remember(_ tree: TargetTree) throws(VaultError) {
        let versions = SiteVersions(tree)
        guard try versions != lastPublished().versions else { return }
        let bytes = Array(versions.text(of: tree.chain.timestamp.digest).utf8)
        try DurableFile.write(bytes.span, to: memory, permissions: 0o644, replacing: true)
    }

    private func lastPublished() throws(VaultError) -> (versions: SiteVersions, digest: SHA256Digest?) {
        guard try FileSystem.exists(memory) else { return (.none, nil) }
        let text = String(decoding: try DurableFile.read(memory, limit: 16 << 20), as: UTF8.self)
        guard let (versions, digest) = SiteVersions.parse(text) else {
            throw VaultError(
                .corrupt, "it holds no versions and digest", at: memory.string,
                remedy: "remove it if site/ is the newest, as at your host")
        }
        return (versions, digest)
    }
}
