internal import CVaultSystem
internal import Synchronization
internal import SystemPackage
internal import VaultErrors

/// What exists only for a while and must go when the process is told to end.
///
/// An entry's folder stays open as long as the entry stands here. A rename to the final name happens
/// under the lock, so that nothing is removed halfway through becoming final.
enum LiveScratch {
    struct Entry: Hashable {
        let parent: Int32
        let name: [CChar]
    }

    private static let entries = Mutex<Set<Entry>>([])

    static func add(_ entry: Entry) {
        entries.withLock { _ = $0.insert(entry) }
    }

    static func forget(_ entry: Entry) {
        entries.withLock { _ = $0.remove(entry) }
    }

    /// Makes an entry final: it is forgotten unless `rename` throws.
    static func settle(_ entry: Entry, _ rename: () throws(VaultError) -> Void) throws(VaultError) {
        try entries.withLock { (entries) throws(VaultError) in
            try rename()
            entries.remove(entry)
        }
    }

    /// Removes everything and ends the process. The lock is never given back.
    static func removeAllAndExit(_ status: Int32) {
        entries.withLock { entries in
            for entry in entries { try? TreeRemoval.remove(entry.name, in: entry.parent, path: "") }
            vault_exit(status)
        }
    }
}
