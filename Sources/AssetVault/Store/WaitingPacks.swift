import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// The files that wait in shared storage under the ID of one pack. Other users may write there, so a file counts only if its digest
/// matches.
struct WaitingPacks {
    let layout: StoreLayout
    let id: PackID

    private func openFolder() throws(VaultError) -> Folder? {
        try layout.sharedArea.openFolder(layout.waiting(of: id))
    }

    /// Number of files of a pack that are looked at. If other users put more there, a pack is still found by its digest.
    private static let nameLimit = 1024
    /// Number of manifests that are read.
    private static let manifestLimit = 16

    private func names() throws(VaultError) -> [String] {
        try layout.sharedArea.names(in: layout.waiting(of: id), upTo: Self.nameLimit)
    }

    /// The digests in the names of what waits.
    func digests() throws(VaultError) -> Set<SHA256Digest> {
        return Set(
            try names().filter { $0.hasPrefix(StoreLayout.reservedPrefix) && $0.hasSuffix(".avpack") }
                .compactMap {
                    SHA256Digest(hex: String($0.dropFirst().dropLast(".avpack".count)))
                })
    }

    /// The status of the file of a pack that waits; nil where nothing of its name can be seen.
    func status(of pack: PackManifest) throws(VaultError) -> FileStatus? {
        try openFolder()?.status(of: layout.waitingName(of: pack))
    }

    /// Whether a file has the name and the length of a pack. Its bytes are verified when it is used.
    func seemsToHold(_ pack: PackManifest) throws(VaultError) -> Bool {
        guard let found = try status(of: pack) else { return false }
        return found.kind == .file && found.size == pack.length
    }

    /// The file of a pack that waits, not verified; nil where there is none that this user may read.
    func open(_ pack: PackManifest) throws(VaultError) -> OpenFileReference? {
        do throws(VaultError) {
            let name = layout.waitingName(of: pack)
            guard let folder = try openFolder(), let found = try folder.status(of: name), found.kind == .file
            else { return nil }
            do throws(VaultError) { return OpenFileReference(try folder.openFile(name)) } catch {
                guard error.category == .io && found.mayBeClosed else { throw error }
                return nil
            }
        } catch {
            guard error.category == .missing else { throw error }
            return nil
        }
    }

    /// The newest pack that is there with its manifest.
    func newest() throws(VaultError) -> PackManifest? {
        var newest: PackManifest?
        for name in try names().filter({ $0.hasSuffix(".avpack.json") }).prefix(Self.manifestLimit) {
            let path = layout.waiting(of: id).appending(name)
            let found: PackManifest?
            do throws(VaultError) { found = try layout.sharedArea.manifest(path) } catch {
                // An unreadable manifest is still there: its pack is not to be removed.
                guard error.category != .io else { throw error }
                continue
            }
            guard let pack = found, pack.id == id,
                PackManifestFile.path(beside: layout.waitingPack(pack)) == path,
                try seemsToHold(pack), newest.map({ $0.version < pack.version }) ?? true
            else { continue }
            newest = pack
        }
        return newest
    }

    /// The names of the files that a pack rests on, as far as is written beside it. Another user may have written that: it only says which
    /// files stay, and where to look.
    func bases(of pack: PackManifest) throws(VaultError) -> [String] {
        let path = PiecePlaces.path(beside: layout.waitingPack(pack))
        guard let file = try usable(layout.sharedArea.openFile(path)) else { return [] }
        return PiecePlaces(in: file, of: pack)?.bases ?? []
    }

    /// Whether another pack may rest on the file of a pack that waits and is this user's. A pack rests only on files of the user who
    /// brought it (``ReusablePacks``), so places that another user wrote count only beside a pack of this role's record.
    func isBase(_ pack: PackManifest, beside record: PackRecord) throws(VaultError) -> Bool {
        guard let folder = try openFolder() else { return false }
        let name = layout.waitingName(of: pack)
        let suffix = PiecePlaces.suffix.utf8
        // However many names others put there.
        let found = try folder.names(upTo: 1) { name in
            guard name.suffix(suffix.count).elementsEqual(suffix) else { return false }
            do throws(VaultError) { return try folder.status(of: name)?.isOfThisUser == true } catch {
                return true
            }
        }
        if !found.names.isEmpty { return true }
        for other in [record.waiting, record.arriving].compactMap(\.self) where other.sha256 != pack.sha256 {
            if try bases(of: other).contains(name) { return true }
        }
        return false
    }

    /// Bytes that a pack takes on the disk, with the files that it rests on.
    func sizeOnDisk(of pack: PackManifest) -> UInt64 {
        do throws(VaultError) {
            let files = Set(try bases(of: pack) + [layout.waitingName(of: pack)])
            return try openFolder()?.allocatedSize(of: files) ?? 0
        } catch {
            return 0
        }
    }

    /// Removes all packs but some, each with its manifest, and the files that these rest on, or one that is arriving.
    func remove(except kept: [PackManifest], arriving: PackManifest? = nil) throws(VaultError) {
        let paths = kept.map(layout.waitingPack).flatMap { [$0, PackManifestFile.path(beside: $0)] }
        let resting = kept + [arriving].compactMap(\.self)
        let places = resting.map { PiecePlaces.path(beside: layout.waitingPack($0)) }
        var names = (paths + places).compactMap(\.lastComponent?.string)
        for pack in resting { names += try bases(of: pack) }
        try change { [names] folder throws(VaultError) in try folder.discardStoreEntries(except: names) }
    }

    /// Removes one file.
    func discard(_ file: FilePath) throws(VaultError) {
        guard let name = file.lastComponent?.string else { return }
        try change { folder throws(VaultError) in try folder.discard(name) }
    }

    /// Files in another user's folder that this one may not remove only cost disk space.
    private func change(_ body: (borrowing Folder) throws(VaultError) -> Void) throws(VaultError) {
        guard let folder = try openFolder() else { return }
        do throws(VaultError) { try body(folder) } catch {
            guard try !folder.status().isOfThisUser else { throw error }
        }
    }
}

extension StoreAccess {
    func waiting(_ id: PackID) -> WaitingPacks { WaitingPacks(layout: layout, id: id) }

    /// Removes the waiting packs that no role needs: all but the one of this role's record, and one that the other
    /// role may have brought since.
    func removeUnneededWaiting(of id: PackID, beside record: PackRecord) throws(VaultError) {
        // Where the other role's record can't be read, any file may be needed.
        guard let other = try? records.record(of: id, in: role.other) else { return }
        var kept = record.waiting.map { [$0] } ?? []
        if role == .app {
            let isNew = other.listing >= record.listing
            // A downloader that died may have named what was arriving before it recorded that.
            for brought in [isNew ? other.waiting : nil, other.arriving].compactMap(\.self)
            where !record.versions.contains(where: { $0.pack.sha256 == brought.sha256 }) {
                kept.append(brought)
            }
        }
        try waiting(id).remove(except: kept, arriving: record.arriving)
    }
}
