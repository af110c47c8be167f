public import SealedPack
import SystemPackage
public import VaultBase

#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.URL
#else
    public import struct Foundation.URL
#endif

/// One pack of a vault: its files, its state, and what the app decides on it.
///
/// Each read sees one version, old or new, whatever updates do meanwhile. All reads throw `.missing` for a pack that is not loaded and
/// for an unknown file, `.key` without the key of a pack, `.corrupt` for damage, and `.usage` for a text that is not a path.
public struct VaultPack: Sendable {
    public let id: PackID
    private let source: Vault.Source

    init(id: PackID, of source: Vault.Source) { (self.id, self.source) = (id, source) }

    /// The bytes of one file. For large files there is ``reader(_:)``.
    public func bytes(_ path: String) async throws(VaultError) -> [UInt8] { try await held().bytes(path) }

    /// Reads ranges of one file, in little memory.
    public func reader(_ path: String) async throws(VaultError) -> AssetReader {
        try await held().reader(path)
    }

    /// Where a file of an opened pack is, as long as the vault lives. Throws `.usage` for a pack that is kept sealed.
    public func url(_ path: String) async throws(VaultError) -> URL {
        switch source {
        case .site(let client): try await client.store.url(for: EntryPath(path), in: id)
        case .folder: try await held().url(path)
        }
    }

    /// All files, in the order of their paths.
    public var files: [PackEntry] {
        get async throws(VaultError) { try await held().files }
    }

    /// Keeps the version that is live now as it is, for reading files that belong together.
    public func held() async throws(VaultError) -> HeldPack {
        switch source {
        case .site(let client): try await client.store.held(id)
        case .folder(let folders): HeldPack(try folders.lease(of: id), in: folders.store)
        }
    }

    /// Reads some of its files before it is loaded: what is missing of a file is downloaded, and nothing else. Where a version is loaded, that
    /// one is read.
    ///
    /// - Throws: `.key` without its key, and what a download throws.
    public func early() async throws(VaultError) -> EarlyPack {
        switch source {
        case .site(let client): try await client.early(id)
        case .folder: EarlyPack(try await held())
        }
    }

    /// Its state; ``PackState/loaded`` for a source folder.
    public var status: PackStatus {
        get async throws(VaultError) {
            switch source {
            case .site(let client): return try await client.store.status(of: id)
            case .folder(let folders): return PackStatus(ofSource: try folders.lease(of: id))
            }
        }
    }

    /// Updates of the pack, from now on; nil for a source folder, which never changes.
    public var events: StatusUpdates? {
        guard case .site(let client) = source else { return nil }
        return client.statusUpdates(for: id)
    }

    /// Makes sure that it is ready for use.
    ///
    /// - Parameter latest: whether the site is asked for a newer version first; else any version will do.
    /// - Throws: `.key` where its key is missing.
    public func load(latest: Bool = false) async throws(VaultError) {
        switch source {
        case .site(let client): try await client.ensureLocalAvailability(of: id, requireLatest: latest)
        case .folder(let folders): _ = try folders.lease(of: id)
        }
    }

    /// Reads every byte of it, and fetches damaged pieces again. Returns whether it was damaged.
    @discardableResult
    public func repair() async throws(VaultError) -> Bool {
        guard case .site(let client) = source else { return false }
        return try await !client.repair([id]).isEmpty
    }

    /// Removes it. It is downloaded again only on request, or with all packs. A version that a reader holds is removed when it is
    /// free.
    public func remove() async throws(VaultError) {
        if case .site(let client) = source { try await client.remove(id) }
    }

    /// Whether it may be removed when disk space is needed. Throws `.missing` for a pack that is not loaded.
    public func setPurgeable(_ isPurgeable: Bool) async throws(VaultError) {
        guard case .site(let client) = source else { return }
        if isPurgeable {
            try await client.store.declarePurgeable(id)
        } else {
            try await client.store.keep(id)
        }
    }

    /// Pauses the work on it; ``resume()`` continues it, also in a call that is waiting.
    public func pause() { if case .site(let client) = source { client.pause(id) } }

    public func resume() { if case .site(let client) = source { client.resume(id) } }

    /// Cancels the work on it: callers that wait for it get an error. What was downloaded stays.
    public func cancel() { if case .site(let client) = source { client.cancel(id) } }
}

/// Plain folders in the place of packs; see ``Vault/init(folder:)``.
struct SourceFolders: Sendable {
    let root: FilePath
    /// Reads their files as it reads those of opened packs.
    let store: VaultStore

    init(root: FilePath) { (self.root, store) = (root, VaultStore(StoreLayout(root: root))) }

    /// Throws `.missing` where there is no such folder.
    func lease(of id: PackID) throws(VaultError) -> PackLease {
        try PackLease(ofSource: root.pushing(FilePath(id.description)), named: id)
    }

    /// All of their files as one tree, whatever tags were asked for.
    func access() throws(VaultError) -> ResourceAccess {
        ResourceAccess([try PackLease(ofSource: root, named: PackID("folder"))], of: store, note: nil)
    }
}

extension PackStatus {
    /// - Parameter source: a folder in the place of a pack.
    fileprivate init(ofSource source: PackLease) {
        self.init(
            id: source.id, listedID: source.id, state: .loaded, loadedVersion: source.version, form: .opened,
            waitingVersion: nil, readyVersion: nil, isPurgeable: false, isRemoved: false,
            availability: .upToDate)
    }
}
