public import SealedPack
import Synchronization

/// Which files of packs an app reads, in the order of their first reads: a list for the member `"first"` of `vault.json`, by which the
/// next players get these files first. Unlike `access --record` it also sees reads of packs that are kept sealed.
///
/// It is given to ``VaultSettings/reads`` or ``VaultConfiguration/reads``. Reads by a plain path are not seen.
public final class ReadRecord: Sendable {
    private struct Read: Hashable {
        let pack: PackID
        let path: EntryPath
    }

    private let reads = Mutex<(order: [Read], known: Set<Read>)>(([], []))

    public init() {}

    func note(_ path: EntryPath, in pack: PackID) {
        let read = Read(pack: pack, path: path)
        reads.withLock { reads in
            if reads.known.insert(read).inserted { reads.order.append(read) }
        }
    }

    /// The files of some packs, of all where none is named: one path a line.
    public func list(of packs: PackID...) -> String {
        reads.withLock { $0.order }.filter { packs.isEmpty || packs.contains($0.pack) }
            .map { "\($0.path)\n" }.joined()
    }
}
