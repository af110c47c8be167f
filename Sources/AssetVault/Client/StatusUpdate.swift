public import SealedPack
public import VaultErrors
public import VaultTransport

/// What happens to a pack, as it happens.
public enum StatusUpdate: Sendable, Equatable {
    /// A download is planned: reported for all of a plan before the first begins.
    case planned(PackID, PackPolicy, total: UInt64)
    /// A download begins, or resumes where an earlier one stopped.
    case began(PackID)
    /// Bytes that were just written, bytes of the download on the disk with them, and bytes in all; not reported for every
    /// byte. The first one says what an earlier attempt left: nothing was written for it.
    case progress(PackID, written: UInt64, bytes: UInt64, total: UInt64)
    /// The host does not support Range requests: all of the pack is sent, also what is here already.
    case sentWhole(PackID, SiteLocation)
    /// Disk space for the pack is missing, in bytes. Packs that may go are removed now; where that is not enough, the pack fails.
    case diskSpaceLow(PackID, missing: UInt64)
    /// The network is metered: the pack, which nobody asked for, is not downloaded. A final update follows.
    case deferred(PackID)
    /// A file in the store is verified again.
    case verifying(PackID)
    /// Bytes that were opened, and bytes in all.
    case opening(PackID, bytes: UInt64, total: UInt64)
    /// The pack is moved to the next area.
    case transferring(PackID)
    /// None of the given keys opens the pack. A final update follows: it waits in shared storage, it was not downloaded
    /// (`.absent`), or an earlier version stays in use.
    case awaitingKey(PackID, VaultError)
    /// The pack is staged as far as possible: loaded, or waiting for its key.
    case finished(PackID, PackState)
    case failed(PackID, VaultError)

    public var id: PackID {
        switch self {
        case .planned(let id, _, _), .began(let id), .progress(let id, _, _, _), .sentWhole(let id, _),
            .diskSpaceLow(let id, _), .deferred(let id), .verifying(let id), .opening(let id, _, _),
            .transferring(let id), .awaitingKey(let id, _),
            .finished(let id, _), .failed(let id, _):
            id
        }
    }

    /// The same of the pack under another ID.
    func named(_ id: PackID, _ naming: (VaultError) -> VaultError) -> StatusUpdate {
        switch self {
        case .planned(_, let policy, let total): .planned(id, policy, total: total)
        case .began: .began(id)
        case .progress(_, let written, let bytes, let total):
            .progress(id, written: written, bytes: bytes, total: total)
        case .sentWhole(_, let file): .sentWhole(id, file)
        case .diskSpaceLow(_, let missing): .diskSpaceLow(id, missing: missing)
        case .deferred: .deferred(id)
        case .verifying: .verifying(id)
        case .opening(_, let bytes, let total): .opening(id, bytes: bytes, total: total)
        case .transferring: .transferring(id)
        case .awaitingKey(_, let error): .awaitingKey(id, naming(error))
        case .finished(_, let state): .finished(id, state)
        case .failed(_, let error): .failed(id, naming(error))
        }
    }

    /// Whether it is the final update of the pack.
    var isEnd: Bool {
        switch self {
        case .finished, .failed: true
        default: false
        }
    }

    /// The update that replaces this one and an earlier one of the same pack; nil where both are needed.
    func merged(with earlier: StatusUpdate) -> StatusUpdate? {
        switch (self, earlier) {
        case (.progress(let id, let more, let bytes, let total), .progress(_, let written, _, _)):
            let (sum, overflows) = written.addingReportingOverflow(more)
            return .progress(id, written: overflows ? .max : sum, bytes: bytes, total: total)
        case (.opening, .opening): return self
        default: return nil
        }
    }
}

/// Receives updates.
typealias Observer = @Sendable (StatusUpdate) -> Void
