import SealedPack
import Synchronization
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// Notes of the packs that have a superseded version which a reader holds: each command tries again to remove these versions,
/// without looking at other packs.
struct HeldVersions {
    let layout: StoreLayout

    /// Notes whether a pack has such a version.
    func set(_ isHeld: Bool, of id: PackID) throws(VaultError) {
        let note = layout.held.appending(SHA256.hash(Array(id.description.utf8).span).hex)
        guard try FileSystem.exists(note) != isHeld else { return }
        if isHeld {
            try FileSystem.createFolders(layout.held, permissions: AreaPermissions.permanent.folders)
            try DurableFile.write(
                Array(id.description.utf8).span, to: note, permissions: AreaPermissions.permanent.files,
                replacing: true)
        } else {
            try FileSystem.removeFile(note)
        }
    }

    func ids() throws(VaultError) -> [PackID] {
        guard try FileSystem.exists(layout.held) else { return [] }
        var found: [PackID] = []
        let folder = try Folder(opening: layout.held)
        try folder.removeAbandonedScratch()
        for name in try folder.names() {
            let note = layout.held.appending(String(decoding: name, as: UTF8.self))
            guard let bytes = try? DurableFile.read(note, limit: 1 << 12),
                let id = try? PackID(String(decoding: bytes, as: UTF8.self))
            else { continue }
            found.append(id)
        }
        return found.sorted()
    }
}

/// Superseded versions that a run keeps until its downloads have reused their pieces: of a file that moved to another pack of a
/// resource tree nothing else has them. Only this process knows these versions. If it is killed, recovery finds its mark and removes them.
final class KeptVersions: Sendable {
    private struct State {
        /// The packs that are still to be downloaded, by their content key.
        var pending: [ContentKeyID: Set<PackID>] = [:]
        /// The packs with superseded versions that stay for them.
        var kept: [ContentKeyID: Set<PackID>] = [:]
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// A run is about to download packs.
    func expect(_ packs: [PackManifest]) {
        state.withLock { state in
            for pack in packs { state.pending[pack.contentKeyID, default: []].insert(pack.id) }
        }
    }

    /// Whether the versions that a pack has just superseded stay for now.
    func keeps(after pack: PackManifest) -> Bool {
        state.withLock { state in
            let others = state.pending[pack.contentKeyID, default: []].subtracting([pack.id])
            guard !state.hasEnded, !others.isEmpty else { return false }
            state.kept[pack.contentKeyID, default: []].insert(pack.id)
            return true
        }
    }

    /// A download has succeeded or failed. Returns the packs whose superseded versions are no longer needed.
    func end(_ id: PackID) -> Set<PackID> {
        state.withLock { state in
            var released: Set<PackID> = []
            for (key, packs) in state.pending where packs.contains(id) {
                state.pending[key]?.remove(id)
                guard packs.count == 1 else { continue }
                state.pending[key] = nil
                released.formUnion(state.kept.removeValue(forKey: key) ?? [])
            }
            return released
        }
    }

    /// Nothing is kept from now on: all downloads ended, or disk space is short.
    func endAll() -> Set<PackID> {
        state.withLock { state in
            defer { state.kept = [:] }
            state.hasEnded = true
            return state.kept.values.reduce(into: []) { $0.formUnion($1) }
        }
    }
}
