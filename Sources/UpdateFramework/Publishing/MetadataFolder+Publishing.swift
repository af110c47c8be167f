import SystemPackage
public import VaultErrors
import VaultFileSystem

extension MetadataFolder {
    /// Writes new metadata into the folder so that a client sees the old state or the new one, never a mixture, and
    /// never one that it refuses: files under names of their own first, those that others name before those that name
    /// them; then the timestamp. A new root comes after it where what is new holds under the old root, too, as when
    /// old and new keys signed; else before it.
    ///
    /// Nothing is written unless the site as it will be verifies from its first root on, and is not older than
    /// what it is now, as far as clients remember that under the new root. Files are durable and have mode 0644, the folder 0755, whatever the umask. A file that
    /// is there already with the same bytes stays as it is.
    ///
    /// - Throws: `untrusted` when the site would not verify, `unwritable` when a version is there already with
    ///   other bytes, `io`.
    /// - Returns: what clients will believe.
    @discardableResult
    public func publish(_ files: [SignedMetadata], now: UTCTime) async throws(VaultError) -> TargetTree {
        let current = try? await TrustChain.verifying(self, pinnedRoot: nil, now: .earliest)
        let tree = try await preview(files, now: now, after: current)
        let rootsComeLast = await holdsWithoutRoots(files, after: current)
        try write(files.sorted { Self.rank($0, rootsComeLast) < Self.rank($1, rootsComeLast) })
        return tree
    }

    /// Whether there are new roots, and clients that don't know them yet believe the rest.
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

    /// What clients will believe once these files are written; throws what they would refuse.
    private func preview(
        _ files: [SignedMetadata], now: UTCTime, after current: TrustChain?
    ) async throws(VaultError) -> TargetTree {
        let new = Dictionary(files.map { ($0.hostedName, $0.bytes) }) { $1 }
        let source = Preview(new: new, current: self)
        let chain = try await TrustChain.verifying(
            source, pinnedRoot: nil, now: now, notBefore: InMemoryTrust(of: current))
        let tree = try await TrustWorkflow(source: source, keeper: InMemoryTrust(), now: now).tree(of: chain)
        // What was wrong with a role before is not made worse; what is new must be right.
        let roles = Set(files.map(\.draft.role))
        if let refusal = tree.refusals.first(where: { roles.contains($0.role) }) { throw refusal.error }
        return tree
    }

    /// Whether the file is there already with the same bytes; only a timestamp may replace others.
    private func isPresent(_ file: SignedMetadata) throws(VaultError) -> Bool {
        let old = try self.file(named: file.hostedName, limit: file.draft.role.sizeLimit)
        guard old == nil || old == file.bytes || file.draft.role == .timestamp else {
            throw VaultError(
                .unwritable, "this version is there already with other content",
                at: path.appending(file.hostedName).string,
                remedy: "publish under a higher version; published versions never change")
        }
        return old == file.bytes
    }

    private static func rank(_ file: SignedMetadata, _ rootsComeLast: Bool) -> (Int, Int64) {
        let order: [MetadataRole] =
            rootsComeLast
            ? [.targets, .snapshot, .timestamp, .root] : [.root, .targets, .snapshot, .timestamp]
        // Delegated roles come before all that lists them.
        return (order.firstIndex(of: file.draft.role) ?? -1, file.draft.version)
    }
}

/// A folder of metadata as it will be.
private struct Preview: MetadataSource {
    let new: [String: [UInt8]]
    let current: MetadataFolder

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        if let bytes = new[name] { return bytes }
        return try await current.metadata(named: name, limit: limit)
    }
}
