import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// Where each role keeps the metadata that it trusts. To the app, a downloader's metadata are those of one more host: they
/// count when they pass verification against what the app verified before.
extension StoreAccess {
    /// The metadata that the role trusts.
    var metadata: MetadataStore { metadata(of: role) }

    func metadata(of role: StoreRole) -> MetadataStore {
        let permissions = try? layout.permissions(of: role)
        return MetadataStore(
            folder: layout.trust(of: role), permissions: (permissions ?? .permanent).folders)
    }

    /// Makes the area in which the role's metadata are kept.
    func prepareMetadata() throws(VaultError) {
        try FileSystem.createFolders(layout.area(of: role), permissions: layout.permissions(of: role).folders)
    }

    /// A downloader that has no root yet takes the app's. An app takes the downloader's only if no other user could have put
    /// it there: this one could write the app's own as well. Else the app needs to be given a root.
    func adoptPin() async throws(VaultError) {
        guard try metadata.pin() == nil else { return }
        let root: [UInt8]?
        switch role {
        case .downloader: root = try metadata(of: .app).firstRoot { _ in true }
        case .app:
            guard isOnlyOurs(layout.shared) else { return }
            root = try metadata(of: .downloader).firstRoot { isOnlyOurs($0) }
        }
        if let root { try await metadata.pin(root) }
    }

    /// Adopts the metadata that a downloader refreshed since, without the network. Expiry does not count: it ends trust in a host,
    /// and packs that were downloaded before a release must open after it. All of it passes verification, or none is kept.
    ///
    /// - Parameter trustedRoot: metadata under an older root than this one stay out.
    func adoptMetadata(trusting trustedRoot: [UInt8]?) async throws(VaultError) {
        guard role == .app, try FileSystem.exists(layout.trust(of: .downloader)) else { return }
        try await metadata.adopt(metadata(of: .downloader), trusting: trustedRoot)
    }

    /// Whether nobody but this user can have written there.
    private func isOnlyOurs(_ path: FilePath) -> Bool {
        guard let status = try? FileSystem.status(of: path) else { return false }
        return status.isOfThisUser && status.permissions & 0o022 == 0
    }
}
