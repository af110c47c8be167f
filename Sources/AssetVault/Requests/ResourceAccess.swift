import SealedPack
import Synchronization
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
    let store: VaultStore
    private let held: Mutex<Held>

    private struct Held {
        var leases: [PackLease]
        /// Nil where the store can't be written.
        var note: PostedNote?
    }

    init(_ leases: [PackLease], of store: VaultStore, note: PostedNote?) {
        self.store = store
        held = Mutex(Held(leases: leases, note: note))
    }

    deinit { end() }

    /// In the order of publication; empty after the end.
    var leases: [PackLease] { held.withLock { $0.leases } }

    /// Frees the packs at once, although a task may still have this object. They were used until now.
    func end() {
        let ended = held.withLock { held in
            defer { held = Held(leases: [], note: nil) }
            return held
        }
        for lease in ended.leases { LastUse.noteNow(lease.listedID, in: store.layout) }
    }

    /// The pack that has a file: of several the first one, in the order of publication. What a pack has hides the same path of later
    /// ones: a folder their file, and a file what is below it. Throws `.missing`.
    func lease(with path: EntryPath) async throws(VaultError) -> PackLease {
        search: for lease in leases {
            switch try await store.occupant(of: path, in: lease) {
            case .file: return lease
            case .other: break search
            case nil: continue
            }
        }
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
        try held.withLock { $0.note }?.keepOpenAcrossExec(named: name)
    }
}

/// What a pack has at a path.
enum PathOccupant {
    case file
    /// A folder, or a file in the place of a folder around it.
    case other
}

extension VaultStore {
    /// Nil where a version that is held has nothing at a path, or above it where only a folder may be.
    @concurrent func occupant(
        of path: EntryPath, in lease: PackLease
    ) async throws(VaultError) -> PathOccupant? {
        switch lease.staged {
        case .tree(let tree): return try lease.occupant(of: path, in: tree)
        case .pack: return try await openPack(of: lease, place: path.string).catalog.occupant(of: path)
        }
    }
}

extension Catalog {
    fileprivate func occupant(of path: EntryPath) -> PathOccupant? {
        if hasFolder(at: path) { return .other }
        if entry(at: path) != nil { return .file }
        var above = path.parent
        while let folder = above {
            if let entry = entry(at: folder) { return entry.kind == .emptyFolder ? nil : .other }
            above = folder.parent
        }
        return nil
    }
}
