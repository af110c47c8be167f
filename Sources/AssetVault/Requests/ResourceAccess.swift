import SealedPack
import VaultContent
package import VaultErrors
import VaultFileSystem

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.URL
#else
    import struct Foundation.URL
#endif

/// Packs that a request has in access: one tree of files by their relative paths, each version as it was when the access began.
package final class ResourceAccess: Sendable {
    let leases: [PackLease]
    let store: VaultStore
    /// Nil where the store can't be written.
    private let note: PostedNote?

    init(_ leases: [PackLease], of store: VaultStore, note: PostedNote?) {
        (self.leases, self.store, self.note) = (leases, store, note)
    }

    /// Before the packs are free: they were used until now.
    deinit { for lease in leases { LastUse.noteNow(lease.id, in: store.layout) } }

    /// The pack that has a file: of several the first one, in the order of publication. Throws `.missing`.
    func lease(with path: EntryPath) async throws(VaultError) -> PackLease {
        for lease in leases where try await store.hasFile(path, in: lease) { return lease }
        throw VaultError(
            .missing, "no pack in access has this file", at: path.string,
            remedy: "check the path, or request the tag that the file has")
    }

    func contents(of path: EntryPath) async throws(VaultError) -> [UInt8] {
        try await store.contents(of: path, in: try await lease(with: path))
    }

    func reader(of path: EntryPath) async throws(VaultError) -> AssetReader {
        try await store.reader(of: path, in: try await lease(with: path))
    }

    func url(for path: EntryPath) async throws(VaultError) -> URL {
        let lease = try await lease(with: path)
        store.noteUse(of: lease)
        return try lease.url(for: path)
    }
}

extension ResourceAccess {
    /// Leaves the access to the program that this process becomes by `exec`, and ends with it.
    package func keepOpenAcrossExec(named name: String) throws(VaultError) {
        for lease in leases { try lease.staged.keepOpenAcrossExec() }
        try note?.keepOpenAcrossExec(named: name)
    }
}

extension VaultStore {
    /// Whether a version that is held has a file.
    @concurrent func hasFile(_ path: EntryPath, in lease: PackLease) async throws(VaultError) -> Bool {
        switch lease.staged {
        case .tree(let tree):
            do throws(VaultError) { _ = try lease.openFile(path, in: tree) } catch {
                guard error.category == .missing else { throw error }
                return false
            }
            return true
        case .pack:
            let pack = try await openPack(of: lease, place: path.string)
            return pack.catalog.entry(at: path).map { $0.kind != .emptyFolder } ?? false
        }
    }
}
