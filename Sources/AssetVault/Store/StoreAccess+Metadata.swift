import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// Where the app and the downloader each keep the metadata that they trust. To the app, a downloader's metadata are those of one
/// more host: they count when they pass verification against what the app verified before.
extension StoreAccess {
    /// The metadata that the role trusts.
    var metadata: MetadataStore { metadata(of: role) }

    func metadata(of role: StoreRole) -> MetadataStore {
        let permissions = try? layout.permissions(of: role)
        return MetadataStore(
            folder: layout.trust(of: role), permissions: (permissions ?? .permanent).folders)
    }

    /// The role's metadata as they are read without the network: nobody who has their lock, and may be stopped, is waited for.
    var readableMetadata: MetadataStore {
        let metadata = metadata
        return MetadataStore(
            folder: metadata.folder, patience: .zero, permissions: metadata.permissions)
    }

    /// Makes the area in which the role's metadata are kept.
    func prepareMetadata() throws(VaultError) {
        try FileSystem.createFolders(layout.area(of: role), permissions: layout.permissions(of: role).folders)
    }

    /// A downloader that has no root yet takes the app's. An app takes the downloader's only if no other user can have written
    /// it. That loses nothing: this user could replace the app's own root too. Otherwise the app must be given a root.
    func adoptPin() async throws(VaultError) {
        guard try metadata.pinDigest() == nil else { return }
        let root: [UInt8]?
        switch role {
        case .downloader: root = try metadata(of: .app).pinnedRoot { _ in true }
        case .app:
            guard isOnlyOurs(layout.shared) else { return }
            root = try metadata(of: .downloader).pinnedRoot { isOnlyOurs($0) }
        }
        if let root { try await metadata.pin(root) }
    }

    /// Adopts the metadata that a downloader refreshed since, without the network. Expiry does not count: it ends trust in a host,
    /// and packs preloaded before a game's launch must open on launch day, even if the metadata expired since. All of it passes
    /// verification, or none is kept.
    ///
    /// - Parameter trustedRoot: metadata under an older root than this one stay out.
    func adoptMetadata(trusting trustedRoot: [UInt8]?) async throws(VaultError) {
        guard role == .app, try FileSystem.exists(layout.trust(of: .downloader)) else { return }
        try await metadata.adopt(metadata(of: .downloader), trusting: trustedRoot)
    }

    /// What a downloader's metadata say, as ``adoptPin()`` and ``adoptMetadata(trusting:)`` would take them; nothing is stored.
    func broughtState(trusting trustedRoot: [UInt8]?) async throws(VaultError) -> EarlierState {
        let brought = metadata(of: .downloader)
        var root = trustedRoot
        if root == nil, isOnlyOurs(layout.shared) { root = try brought.pinnedRoot { isOnlyOurs($0) } }
        return try await metadata.state(of: brought, trusting: root)
    }

    /// Whether nobody but this user can have written there.
    private func isOnlyOurs(_ path: FilePath) -> Bool {
        guard let status = try? FileSystem.status(of: path) else { return false }
        return status.isOfThisUser && status.permissions & 0o022 == 0
    }
}
