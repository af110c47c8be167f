public import SealedPack
public import VaultBase

/// The state of a pack in a store.
public enum PackState: Sendable, Hashable {
    /// The store has no file of it.
    case absent
    /// Partly downloaded, also where no process is downloading now: bytes on the disk, and bytes in all.
    case downloading(bytes: UInt64, total: UInt64)
    /// Complete and verified, still in ephemeral storage.
    case downloaded
    /// Verified, not ready for use yet: it waits in shared storage for its key, or for a process to open it; or it waits for the others of
    /// its set. `status` prints "waiting".
    case toBeTransferred
    /// A process writes it to permanent storage.
    case opening
    /// In permanent storage, ready for use.
    case loaded
    /// The last attempt failed; a version that was loaded before still is. The category is nil for one that this release
    /// does not know.
    case failed(VaultError.Category?, reason: String)
    /// Being removed: a version of it is still in use.
    case removing

    /// The state's name, for scripts.
    public var name: String {
        switch self {
        case .absent: "absent"
        case .downloading: "downloading"
        case .downloaded: "downloaded"
        case .toBeTransferred: "toBeTransferred"
        case .opening: "opening"
        case .loaded: "loaded"
        case .failed: "failed"
        case .removing: "removing"
        }
    }
}

/// The state of a pack compared with the last listing of the site, like `AssetPack.Status` of Background Assets.
public enum PackAvailability: String, Sendable, CaseIterable {
    /// Listed, and not here.
    case available
    /// Partly here, with or without a process that works on it; or complete, while another pack of its set is missing.
    case downloading
    /// In the store, waiting for its key.
    case awaitingKey
    /// Ready for use, in the version that is listed.
    case upToDate
    /// Ready for use, and another version is listed.
    case outOfDate
    /// In the store, and no longer listed: the publisher has withdrawn it.
    case obsolete
}

extension PackAvailability {
    fileprivate init?(_ record: PackRecord, _ listing: PackListing, isArriving: Bool) {
        if let loaded = record.loaded, !record.isRemoved {
            switch listing {
            case .listed(loaded.pack.sha256): self = .upToDate
            case .listed: self = .outOfDate
            case .unlisted: self = .obsolete
            case .unknown: return nil
            }
        } else if record.waiting != nil, !record.isRemoved {
            self = .awaitingKey
        } else if isArriving || record.ready != nil, !record.isRemoved {
            self = .downloading
        } else {
            guard case .listed = listing else { return nil }
            self = .available
        }
    }
}

/// The status of one pack, as `assetvault status` prints it.
public struct PackStatus: Sendable, Hashable {
    public let id: PackID
    /// The ID that it is or was listed by: where names are opaque a digest, and one that stays while the pack is loaded.
    public let listedID: PackID
    /// The state of the newest version that the store knows.
    public let state: PackState
    /// The version that is ready for use.
    public let loadedVersion: UInt64?
    public let form: PackForm?
    /// The version that waits in shared storage.
    public let waitingVersion: UInt64?
    /// The version that becomes ready for use together with the others of its set.
    public let readyVersion: UInt64?
    /// It may be removed when disk space is needed: the app said so (``VaultStore/declarePurgeable(_:)``), another variant
    /// of it serves the device, or it is an on-demand pack of a resource tree.
    public let isPurgeable: Bool
    /// It was removed from the store, and comes back only when it is asked for.
    public let isRemoved: Bool
    /// Compared with the last listing of the site; nil for a pack that is neither in the store nor listed, and if that is not
    /// known.
    public let availability: PackAvailability?
}

/// What stored metadata say of a pack.
enum PackListing {
    case listed(SHA256Digest)
    case unlisted
    /// Metadata that may list it is not stored.
    case unknown
}

extension PackStatus {
    /// - Parameters:
    ///   - arrival: what of the arriving version is in ephemeral storage.
    ///   - hasVersionsLeft: whether a removed pack still has a version in permanent storage; ignored for other packs.
    ///   - isOpening: whether a process writes a version.
    init(
        id: PackID, listedID: PackID, _ record: PackRecord, _ listing: PackListing,
        arrival: DownloadFile.Arrival?, hasVersionsLeft: Bool, isOpening: Bool
    ) {
        (self.id, self.listedID) = (id, listedID)
        availability = PackAvailability(record, listing, isArriving: arrival != nil)
        loadedVersion = record.loaded?.pack.version
        form = record.loaded?.form
        waitingVersion = record.waiting?.version
        readyVersion = record.ready?.version.pack.version
        isPurgeable = record.purgeReason != nil
        isRemoved = record.isRemoved
        state =
            if record.isRemoved {
                hasVersionsLeft ? .removing : .absent
            } else if let failure = record.failure {
                .failed(failure.category, reason: failure.reason)
            } else if isOpening {
                .opening
            } else if let arriving = record.arriving, let arrival {
                switch arrival {
                case .whole: .downloaded
                case .partial(let bytes): .downloading(bytes: bytes, total: arriving.length)
                }
            } else if record.waiting != nil || record.ready != nil {
                .toBeTransferred
            } else {
                record.loaded == nil ? .absent : .loaded
            }
    }
}
