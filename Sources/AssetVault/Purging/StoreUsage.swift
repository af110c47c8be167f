public import SealedPack
public import UpdateFramework
public import VaultBase
import VaultFileSystem

/// The disk space that a store takes, by pack.
public struct StoreUsage: Sendable {
    /// A pack that is in the store, whole or in part.
    public struct Pack: Sendable, Hashable {
        public let id: PackID
        /// As the site lists it; see ``VaultStore/listedID(of:)``.
        public let listedID: PackID
        public let policy: PackPolicy
        public let tags: [String]
        /// Bytes, sealed.
        public let sealedSize: UInt64
        /// Bytes of all files, once opened.
        public let openedSize: UInt64
        /// The form that is ready for use; nil for none.
        public let form: PackForm?
        /// Bytes on the disk, about: of the version that is ready for use, one that awaits its set, one that waits with the tree
        /// that it is being opened into, and a download.
        public let sizeOnDisk: UInt64
        /// The processes whose requests have it in access.
        public let processes: [ProcessDescription]
        /// Whether a reader of any kind holds it.
        public let isInAccess: Bool
        /// Why it may be removed when disk space is needed; nil for a pack that stays.
        public let purgeReason: PurgeablePack.Reason?
        /// From 0 to 1.
        public let preservation: Double
        /// When it was read last, to 10 seconds, or its access ended; nil for a pack that was never read.
        public let lastUse: UTCTime?
    }

    /// In the order of their IDs.
    public let packs: [Pack]
    /// Bytes that are free on the disk of permanent storage.
    public let freeSize: UInt64
    /// What was received for the store.
    public let network: Traffic

    /// Bytes on the disk of some of them.
    public func sizeOnDisk(where isCounted: (Pack) -> Bool = { _ in true }) -> UInt64 {
        packs.filter(isCounted).saturatingSum(\.sizeOnDisk)
    }
}

extension VaultStore {
    /// What the store takes on the disk. Nothing is changed, and the site is not asked.
    public func usage() async throws(VaultError) -> StoreUsage {
        let free = try freeSize()
        guard try hasStore else { return StoreUsage(packs: [], freeSize: free, network: Traffic()) }
        let notes = try AccessNotes(layout: layout).current()
        let priorities = try await PreservationPriorities(of: storeAccess, choosing: choice)
        var packs: [StoreUsage.Pack] = []
        for (id, record) in try await brought.records() {
            guard let pack = record.versions.first?.pack ?? record.waiting ?? record.arriving else {
                continue
            }
            var (isFree, lastUse): (Bool, UTCTime?) = (true, nil)
            var size = try sizeInOtherAreas(of: record)
            if let versions = try? VersionFolder(of: id, in: layout) {
                if let loaded = record.loaded { isFree = (try? versions.isFree(loaded)) ?? true }
                lastUse = LastUse(in: versions.folder).time
                let present = versions.sizeOnDisk(of: record.versions)
                size.saturatingAdd(present)
            }
            packs.append(
                StoreUsage.Pack(
                    id: shownID(of: id), listedID: id, policy: pack.offer.policy, tags: pack.tags,
                    sealedSize: pack.length, openedSize: pack.openedSize, form: record.loaded?.form,
                    sizeOnDisk: size,
                    processes: Set(notes.filter { $0.packs[id] != nil }.map(\.process)).sorted {
                        $0.number < $1.number
                    }, isInAccess: !isFree, purgeReason: record.purgeReason,
                    preservation: priorities.priority(of: pack), lastUse: lastUse))
        }
        return StoreUsage(
            packs: packs.sorted { $0.id < $1.id }, freeSize: free, network: try await traffic())
    }

    /// Bytes that are free on the disk of permanent storage; 0 before there is any.
    package func freeSize() throws(VaultError) -> UInt64 {
        let folder = try FileSystem.exists(layout.permanent) ? layout.permanent : layout.shared
        return try FileSystem.exists(folder) ? FileSystem.availableSpace(at: folder) : 0
    }

    /// Bytes that may be written to the disk of permanent storage: what is free, less what stays free.
    package func spareSize() throws(VaultError) -> UInt64 {
        let free = try freeSize()
        return free - min(free, PlanningPolicy().lowWaterMark)
    }

    /// Of what waits, and of a download.
    private func sizeInOtherAreas(of record: PackRecord) throws(VaultError) -> UInt64 {
        var size: UInt64 = 0
        if let waiting = record.waiting {
            size = storeAccess.waiting(waiting.id).sizeOnDisk(of: waiting)
            size.saturatingAdd(sizeOfTree(of: waiting))
        }
        if let arriving = record.arriving,
            let arrival = try DownloadFile(layout: layout, pack: arriving).arrival()
        {
            switch arrival {
            case .whole: size.saturatingAdd(arriving.length)
            case .partial(let bytes): size.saturatingAdd(bytes)
            }
        }
        return size
    }

    /// Of what a pack that waits was opened into already. Files that are links are those of a version.
    private func sizeOfTree(of pack: PackManifest) -> UInt64 {
        var size: UInt64 = 0
        // What a process removes meanwhile takes no space.
        try? Folder(opening: layout.arrivingTree(of: pack)).forEachEntry { _, status in
            if status.kind == .file, status.hardLinks == 1 { size.saturatingAdd(status.allocatedSize) }
        }
        return size
    }
}
