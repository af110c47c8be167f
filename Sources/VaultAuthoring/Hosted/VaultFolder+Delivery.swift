import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

extension VaultFolder {
    /// Publishes metadata, as ``MetadataFolder/publish(_:now:)`` does. A vault that follows a host has it in its site's folder
    /// afterwards, to be uploaded: the timestamp last, so that without it nothing there counts.
    ///
    /// What has such a name there was never uploaded, since the host has no such file: it is replaced.
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
