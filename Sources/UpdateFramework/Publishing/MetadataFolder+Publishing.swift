import SystemPackage
public import VaultErrors
import VaultFileSystem

extension MetadataFolder {
    /// Writes new metadata into the folder so that a client sees the old state or the new one, never a mixture:
    /// roots first, then targets and snapshot under names of their own, and last the timestamp. (Where a new
    /// root changes the timestamp's keys, clients are refused until the timestamp is there.)
    ///
    /// Nothing is written unless the site as it will be verifies from its first root on, and is not older than
    /// what it is now. Files are durable and have mode 0644, the folder 0755, whatever the umask. A file that
    /// is there already with the same bytes stays as it is.
    ///
    /// - Throws: `untrusted` when the site would not verify, `unwritable` when a version is there already with
    ///   other bytes, `io`.
    /// - Returns: what clients will believe.
    @discardableResult
    public func publish(_ files: [SignedMetadata], now: UTCTime) async throws(VaultError) -> TrustChain {
        let chain = try await preview(files, now: now)
        var missing: [SignedMetadata] = []
        for file in files where try !isPresent(file) {
            missing.append(file)
        }
        try FileSystem.createFolders(path, permissions: 0o755)
        for file in missing.sorted(by: { Self.rank($0) < Self.rank($1) }) {
            try DurableFile.write(
                file.bytes.span, to: path.appending(file.hostedName), permissions: 0o644,
                replacing: file.draft.role == .timestamp)
        }
        return chain
    }

    /// What clients will believe once these files are written; throws what they would refuse.
    private func preview(_ files: [SignedMetadata], now: UTCTime) async throws(VaultError) -> TrustChain {
        var trust = TransientTrust()
        if let current = try? await TrustChain.verifying(self, pinnedRoot: nil, now: .earliest) {
            trust.files = [.timestamp: current.timestamp.bytes, .snapshot: current.snapshot.bytes]
        }
        let new = Dictionary(files.map { ($0.hostedName, $0.bytes) }) { $1 }
        let source = Preview(new: new, current: self)
        return try await TrustChain.verifying(source, pinnedRoot: nil, now: now, notBefore: trust)
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

    private static func rank(_ file: SignedMetadata) -> (Int, Int64) {
        let order: [TopLevelRole] = [.root, .targets, .snapshot, .timestamp]
        return (order.firstIndex(of: file.draft.role) ?? 0, file.draft.version)
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
