import SystemPackage
import VaultErrors
import VaultFileSystem

/// The top-level metadata before a refresh, kept until it ends: a refresh replaces one file after the other, and what is between
/// them verifies nothing. Readers go on with these, also where a process or a host ended the refresh early.
///
/// They are verified under the newest root when they are read: what a revoked key signed does not count.
struct PreviousMetadata {
    private let folder: FilePath
    private let permissions: UInt16

    /// The last one makes the others count.
    private static let roles: [MetadataRole] = [.targets, .snapshot, .timestamp]

    init(below store: FilePath, permissions: UInt16) {
        folder = store.appending("previous")
        self.permissions = permissions
    }

    /// Nil where there are none.
    var source: StoredMetadata? {
        get throws(VaultError) { try exists ? StoredMetadata(folder: folder) : nil }
    }

    private var exists: Bool {
        get throws(VaultError) { try FileSystem.exists(path(of: .timestamp)) }
    }

    /// Copies what a store holds, unless an earlier refresh left it incomplete. The caller has the store's lock.
    func keep(_ store: MetadataStore, under root: VerifiedRoot) throws(VaultError) {
        var files: [MetadataRole: [UInt8]] = [:]
        for role in Self.roles { files[role] = try store.stored(role) }
        guard Self.areWhole(files, under: root) else { return }
        // Also what is no folder, such as a link that another user made.
        try FileSystem.removeTree(folder)
        try FileSystem.createFolders(folder, permissions: permissions)
        for role in Self.roles {
            guard let bytes = files[role] else { return }
            // Not durable: after a power failure they fail verification at worst.
            try CachedFile.write(bytes.span, to: path(of: role), permissions: permissions & 0o644)
        }
    }

    private static func areWhole(_ files: [MetadataRole: [UInt8]], under root: VerifiedRoot) -> Bool {
        func parsed(_ role: MetadataRole) -> UnverifiedMetadata? {
            files[role].flatMap { try? UnverifiedMetadata(parsing: $0, as: role, place: role.fileName) }
        }
        guard let timestamp = parsed(.timestamp), let snapshot = parsed(.snapshot),
            let targets = parsed(.targets), let chain = try? TrustChain.AtRoot(root, now: .earliest)
        else { return false }
        return
            (try? chain.timestamp(timestamp, after: nil).snapshot(snapshot, after: nil).targets(targets))
            != nil
    }

    /// The caller has the store's lock.
    func remove() throws(VaultError) {
        guard try exists else { return }
        try FileSystem.removeFile(path(of: .timestamp))
        try FileSystem.removeTree(folder)
    }

    private func path(of role: MetadataRole) -> FilePath { folder.appending(role.fileName) }
}

extension MetadataStore {
    /// By the metadata before a refresh that has not ended; nil where there are none.
    func previousChain() async throws(VaultError) -> TrustChain? {
        guard let source = try previous.source else { return nil }
        return try await TrustChain.verifying(
            source, pinnedRoot: storedRootChain().newest.bytes, now: .earliest)
    }

    /// Unless another process has begun a later refresh. A failure is harmless: stored metadata that verify come first.
    func removePrevious(supersededBy chain: TrustChain) async {
        guard (try? previous.source) != nil else { return }
        try? await locked { () throws(VaultError) in
            guard try stored(.timestamp) == chain.timestamp.bytes else { return }
            try previous.remove()
        }
    }
}
