import SealedPack
import Synchronization
import VaultBase

/// Superseded versions that a run keeps until its downloads have reused their pieces: if a file moved to another pack of a resource tree,
/// only the superseded version has them. Only this process knows these versions. If it is killed, recovery finds its mark and removes them.
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
