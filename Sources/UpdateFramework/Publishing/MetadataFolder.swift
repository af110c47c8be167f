public import SystemPackage
public import VaultBase
import VaultFileSystem

/// A site's local folder of metadata, to read from and to publish to.
public struct MetadataFolder: MetadataSource {
    public let path: FilePath

    public init(_ path: FilePath) {
        self.path = path
    }

    /// See ``MetadataSource/metadata(named:limit:)``. Nil for a name that contains folders. A damaged file counts as
    /// untrusted, as it would from a host.
    public func metadata(named name: String, limit: Int) throws(VaultError) -> [UInt8]? {
        guard let component = FilePath.Component(name), component.kind == .regular else { return nil }
        do throws(VaultError) {
            return try DurableFile.read(path.appending(component), limit: limit)
        } catch {
            guard error.category == .missing else { throw error.asUntrusted }
            return nil
        }
    }

    public func place(of name: String) -> String { path.appending(name).string }

    /// All versions of all roles' files in the folder, also those of an interrupted publication, except the timestamp,
    /// which has no version in its name.
    public func versions() throws(VaultError) -> [MetadataFileName] {
        guard try FileSystem.exists(path) else { return [] }
        return try Folder(opening: path).names().compactMap {
            MetadataFileName(hostedName: String(decoding: $0, as: UTF8.self))
        }
    }

    /// The highest version of a role's file in the folder; nil when there is none.
    public func newestVersion(of role: MetadataRole) throws(VaultError) -> Int64? {
        try versions().filter { $0.unversionedName == role.fileName }.map(\.version).max()
    }

    /// The next version of each role: above all files in the folder.
    public func nextVersions() throws(VaultError) -> NextVersions {
        var next = NextVersions()
        for file in try versions() { next.add(file.version, of: file.unversionedName) }
        if let version = try timestampVersion() { next.add(version, of: MetadataRole.timestamp.fileName) }
        return next
    }

    /// The version of the folder's timestamp; nil when there is none.
    public func timestampVersion() throws(VaultError) -> Int64? {
        let role = MetadataRole.timestamp
        guard let bytes = try metadata(named: role.fileName, limit: role.sizeLimit) else { return nil }
        return try UnverifiedMetadata(parsing: bytes, as: role, place: role.fileName).document.version
    }
}

extension MetadataFolder {
    /// Writes new metadata so that a client always sees the old state or the new one, complete and valid: first files
    /// with versioned names, those that others list before those that list them; then the timestamp. A new root is
    /// written after it if the rest also verifies under the old root, as when old and new keys signed; else before it.
    ///
    /// Nothing is written unless the new site verifies from its first root on, and is not older than the present one,
    /// as far as clients remember that under the new root. Files are durable and have mode 0644, the folder 0755,
    /// whatever the umask. An existing file with the same bytes is unchanged.
    ///
    /// - Throws: `untrusted` when the site would not verify, `limit` for a file that is longer than clients read, `unwritable`
    ///   when a version exists with other bytes, `io`.
    /// - Returns: the targets that clients will trust.
    @discardableResult
    public func publish(_ files: [SignedMetadata], now: UTCTime) async throws(VaultError) -> TargetTree {
        for file in files { try file.requireReadable() }
        let current = await current
        let tree = try await preview(files, now: now, after: current)
        let rootsComeLast = await holdsWithoutRoots(files, after: current)
        try write(files.sorted { Self.rank($0, rootsComeLast) < Self.rank($1, rootsComeLast) })
        return tree
    }

    /// The targets that clients will trust once these files are published. Nothing is written.
    ///
    /// - Throws: what ``publish(_:now:)`` refuses: `untrusted`, `limit`.
    package func preview(_ files: [SignedMetadata], now: UTCTime) async throws(VaultError) -> TargetTree {
        for file in files { try file.requireReadable() }
        return try await preview(files, now: now, after: current)
    }

    /// What the folder has now; nil where it does not verify.
    private var current: TrustChain? {
        get async { try? await TrustChain.verifying(self, pinnedRoot: nil, now: .earliest) }
    }

    /// Whether there are new roots, and clients that don't have them yet accept the rest.
    private func holdsWithoutRoots(_ files: [SignedMetadata], after current: TrustChain?) async -> Bool {
        let rest = files.filter { $0.draft.role != .root }
        guard rest.count < files.count, current != nil,
            rest.contains(where: { $0.draft.role == .timestamp })
        else { return false }
        do throws(VaultError) {
            _ = try await preview(rest, now: .earliest, after: current)
            return true
        } catch {
            return false
        }
    }

    private func write(_ files: [SignedMetadata]) throws(VaultError) {
        var missing: [SignedMetadata] = []
        for file in files where try !isPresent(file) {
            missing.append(file)
        }
        try FileSystem.createFolders(path, permissions: 0o755)
        for file in missing {
            try DurableFile.write(
                file.bytes.span, to: path.appending(file.hostedName), permissions: 0o644,
                replacing: file.draft.role == .timestamp)
        }
    }

    /// The targets that clients will trust; throws what they would refuse.
    private func preview(
        _ files: [SignedMetadata], now: UTCTime, after current: TrustChain?
    ) async throws(VaultError) -> TargetTree {
        let new = Dictionary(files.map { ($0.hostedName, $0.bytes) }) { $1 }
        let source = Preview(new: new, current: self)
        let chain = try await TrustChain.verifying(
            source, pinnedRoot: nil, now: now, notBefore: InitialTrust(of: current))
        let tree = try await TrustWorkflow(source: source, storage: InitialTrust(), now: now).tree(of: chain)
        // Existing refusals are kept; new metadata must be valid.
        let roles = Set(files.map(\.draft.role))
        if let refusal = tree.refusals.first(where: { roles.contains($0.role) }) { throw refusal.error }
        return tree
    }

    /// Whether the file exists with the same bytes; only a timestamp may replace others.
    private func isPresent(_ file: SignedMetadata) throws(VaultError) -> Bool {
        let old = try metadata(named: file.hostedName, limit: file.draft.role.sizeLimit)
        guard old == nil || old == file.bytes || file.draft.role == .timestamp else {
            throw VaultError(
                .unwritable, "this version exists already with other content",
                at: path.appending(file.hostedName).string,
                remedy: "publish under a higher version; published versions never change")
        }
        return old == file.bytes
    }

    private static func rank(_ file: SignedMetadata, _ rootsComeLast: Bool) -> (Int, Int64) {
        let order: [MetadataRole] =
            rootsComeLast
            ? [.targets, .snapshot, .timestamp, .root] : [.root, .targets, .snapshot, .timestamp]
        // Delegated roles come before the roles that list them.
        return (order.firstIndex(of: file.draft.role) ?? -1, file.draft.version)
    }
}

extension SignedMetadata {
    /// Throws `limit` where the file is longer than clients read.
    fileprivate func requireReadable() throws(VaultError) {
        let limit = draft.role.sizeLimit
        guard bytes.count > limit else { return }
        throw VaultError(
            .limit, "it has \(bytes.count) bytes, more than the \(limit) that clients read", at: hostedName,
            remedy: "divide the list of packs by \"bins\" in vault.json, or list fewer",
            missingBytes: UInt64(bytes.count - limit))
    }
}

/// A metadata folder with unwritten changes.
private struct Preview: MetadataSource {
    let new: [String: [UInt8]]
    let current: MetadataFolder

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        if let bytes = new[name] { return bytes }
        return try current.metadata(named: name, limit: limit)
    }
}
