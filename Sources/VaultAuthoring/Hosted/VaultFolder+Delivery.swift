import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

extension VaultFolder {
    /// Publishes metadata, as ``MetadataFolder/publish(_:now:)`` does. A vault that follows a host also gets it in
    /// its site's folder, to be uploaded; the timestamp is written last.
    ///
    /// A file of that name there was never uploaded, so it is replaced.
    @discardableResult
    func publish(_ files: [SignedMetadata], now: UTCTime) async throws(VaultError) -> TargetTree {
        let tree = try await MetadataFolder(metadata).publish(files, now: now)
        guard followsHost else { return tree }
        try FileSystem.createFolders(siteMetadata, permissions: 0o755)
        let timestamps = files.filter { $0.draft.role == .timestamp }
        for file in files.filter({ $0.draft.role != .timestamp }) + timestamps {
            try DurableFile.write(
                file.bytes.span, to: siteMetadata.appending(file.hostedName), permissions: 0o644,
                replacing: true)
        }
        return tree
    }
}
