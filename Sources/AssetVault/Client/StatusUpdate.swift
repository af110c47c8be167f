public import SealedPack
public import VaultErrors
public import VaultTransport

/// What happens to a pack, as it happens.
public enum StatusUpdate: Sendable, Equatable {
    /// A download is to come: reported for all of a plan before the first begins.
    case planned(PackID, PackPolicy, total: UInt64)
    /// A download begins, or goes on where an earlier one stopped.
    case began(PackID)
    /// Bytes that were just written, bytes of the download that are there with them, and bytes in all; not reported for every
    /// byte. The first one says what was there before: nothing was written for it.
    case progress(PackID, written: UInt64, bytes: UInt64, total: UInt64)
    /// The host sends no parts of files: all of the pack comes, also what is there already.
    case sentWhole(PackID, SiteLocation)
    /// A file that is there is proven once more.
    case verifying(PackID)
    /// Bytes that were opened, and bytes in all.
    case opening(PackID, bytes: UInt64, total: UInt64)
    /// The pack moves on to the next area.
    case transferring(PackID)
    /// None of the keys that are here opens the pack. What became of it follows: it waits in shared storage, or was not
    /// downloaded, which is `.absent`, or an earlier version stays in use.
    case awaitingKey(PackID, VaultError)
    /// The pack is where it can be brought: loaded, or waiting for its key.
    case finished(PackID, PackState)
    case failed(PackID, VaultError)

    public var id: PackID {
        switch self {
        case .planned(let id, _, _), .began(let id), .progress(let id, _, _, _), .sentWhole(let id, _),
            .verifying(let id),
            .opening(let id, _, _),
            .transferring(let id), .awaitingKey(let id, _), .finished(let id, _), .failed(let id, _):
            id
        }
    }

    /// Whether it tells what became of the pack.
    var isEnd: Bool {
        switch self {
        case .finished, .failed: true
        default: false
        }
    }

    /// One update that says what this one and an earlier one of the same pack say, where one is enough.
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

/// Tells updates to whoever is interested.
typealias Observer = @Sendable (StatusUpdate) -> Void
