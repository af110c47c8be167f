import SealedPack
import Synchronization

/// Reports how much of a download is there; the same count only once.
final class DownloadProgress: Sendable {
    private let pack: PackManifest
    private let observer: Observer
    private let reported = Mutex<UInt64?>(nil)

    init(of pack: PackManifest, _ observer: @escaping Observer) {
        self.pack = pack
        self.observer = observer
    }

    /// What was reported last.
    var count: UInt64? { reported.withLock { $0 } }

    func report(_ count: UInt64) {
        let before = reported.withLock { reported in
            defer { reported = count }
            return reported
        }
        guard before != count else { return }
        // A damaged piece was dropped.
        let written = before.map { count - min($0, count) } ?? 0
        observer(.progress(pack.id, written: written, bytes: count, total: pack.length))
    }
}
