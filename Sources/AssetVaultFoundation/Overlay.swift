@_exported public import AssetVault
public import Foundation

/// `localizedDescription` says what was wrong and where, and the recovery suggestion what to do.
extension VaultError: LocalizedError {
    public var errorDescription: String? { "\(place): \(problem)".escapingControls }
    public var failureReason: String? { problem.escapingControls }
    public var recoverySuggestion: String? { remedy.escapingControls }
}

extension VaultConfiguration {
    /// The configuration for a site, with all three storage areas in one folder.
    ///
    /// - Parameter trustedRoot: the bytes of `trusted-root.json`, which came with the app; nil where the store has a root already.
    public init(site: URL, store: URL, trustedRoot: Data?, keys: (any KeyProvider)? = nil) throws(VaultError)
    {
        self.init(
            site: try SiteLocation(site), store: StoreLayout(root: store),
            trustedRoot: trustedRoot.map(Array.init), keys: keys)
    }
}

extension SiteLocation {
    /// Throws `.usage` for anything but a plain http, https or file URL.
    public init(_ url: URL) throws(VaultError) {
        if url.isFileURL {
            self.init(path: FilePath(url.path(percentEncoded: false)))
        } else {
            try self.init(url.absoluteString)
        }
    }
}

extension StoreLayout {
    /// Puts the three areas into one folder, given by its file URL.
    public init(root: URL) { self.init(root: FilePath(root.path(percentEncoded: false))) }
}

extension VaultStore {
    /// The bytes of one file. For large files there is a reader.
    @concurrent public func data(of path: EntryPath, in id: PackID) async throws(VaultError) -> Data {
        Data(try await contents(of: path, in: id))
    }
}

extension VaultClient {
    /// The bytes of one file; see `VaultStore`.
    public nonisolated func data(of path: EntryPath, in id: PackID) async throws(VaultError) -> Data {
        try await store.data(of: path, in: id)
    }
}

extension Progress {
    /// Shows how far downloads are, in bytes.
    public func show(_ progress: LoadingProgress) {
        totalUnitCount = Int64(clamping: progress.total)
        completedUnitCount = Int64(clamping: progress.bytes)
    }
}
