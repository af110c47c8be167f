import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// A file of a store with an index of pieces; not open.
struct StoredSource: Sendable {
    /// The pack whose folder it is in; nil for a download.
    let id: PackID?
    /// The sealed pack; of an opened tree its tail file.
    let file: FilePath
    /// Nil for a sealed pack.
    var tree: FilePath?
    /// The area in which another user may have written it; nil for permanent storage.
    var area: StoreArea?
    var isDistrusted: Bool { area != nil }

    /// Of the whole file, according to its name.
    private var digest: SHA256Digest? {
        let name = file.lastComponent?.string ?? ""
        return SHA256Digest(hex: String(name.drop { $0 == "@" }.prefix { $0 != "." }))
    }

    /// Opens the file; nil where it can't be used, or the budget does not suffice for reading its index.
    func openPack(under key: ContentKeyID, within budget: ReuseBudget) -> PackFile? {
        guard let pack = openPack(under: key),
            !isDistrusted || budget.takeIndex(of: pack, of: id, named: digest)
        else { return nil }
        return pack
    }

    /// Nil where it can't be opened, or is under another content key.
    private func openPack(under key: ContentKeyID) -> PackFile? {
        guard let opened = openFile(),
            let pack = try? PackFile(OpenFileReference(opened), as: nil), pack.contentKeyID == key
        else { return nil }
        return isDistrusted ? pack : try? pack.withBases(beside: file)
    }

    /// Opened folder by folder, without links, if another user may have written it.
    private func openFile() -> OpenFile? {
        if let area { return (try? area.openFile(file)) ?? nil }
        return try? OpenFile(readingWithoutLink: file)
    }

    /// Opens a sealed pack; nil if it can't be used. A source that can't be used only makes the download larger.
    func open(under id: ContentKeyID, within budget: ReuseBudget) -> StoredPieces? {
        guard let pack = openPack(under: id, within: budget) else { return nil }
        return StoredPieces(pack, distrustedWithin: isDistrusted ? budget : nil)
    }

    /// Opens an opened tree; nil if it can't be used.
    ///
    /// - Parameter isTrusting: whether its files are taken as unchanged where its fingerprint is that of when it was staged.
    func openTree(in layout: StoreLayout, with key: ContentKey, isTrusting: Bool) -> OpenedTree? {
        guard let tree, let tail = openPack(under: key.id) else { return nil }
        let isUnchanged = isTrusting && isUnchanged(with: tail, in: layout)
        return try? OpenedTree(tree, openedFrom: tail, key: key, isUnchanged: isUnchanged)
    }

    /// The tail file of the tree that a pack was opened into; nil if it can't be used.
    func openTail(of pack: PackManifest, under key: ContentKeyID) -> PackFile? {
        // The tail file was copied from where others may write.
        guard let tail = openPack(under: key), tail.matches(pack) else { return nil }
        return tail
    }

    private func isUnchanged(with tail: PackFile, in layout: StoreLayout) -> Bool {
        guard let id, let tree, let record = try? PackRecords(layout: layout, role: .app).record(of: id)
        else { return false }
        return record.loaded?.name.text == tree.lastComponent?.string
            && record.fingerprint != nil
            // The tail file was copied from where others may write.
            && record.loaded.map { tail.matches($0.pack) } == true
            && (try? VersionFingerprint.digest(of: tree, as: .opened)) == record.fingerprint
    }

    /// The number of waiting files of a pack that are looked at: others may put any number there.
    private static let waitingLimit = 4
    /// The same for downloads.
    private static let arrivingLimit = 64

    /// The first of some files that another user may have written, those of known packs first.
    private static func prefix(_ sources: [Self], _ limit: Int, _ budget: ReuseBudget) -> [Self] {
        let known = sources.filter { budget.knows($0.digest) }
        return Array((known + sources.filter { !budget.knows($0.digest) }).prefix(limit))
    }

    /// Sealed versions of a pack, ready for use or waiting.
    static func sealed(of id: PackID, in layout: StoreLayout, within budget: ReuseBudget) -> [Self] {
        let (home, waiting) = (layout.home(of: id), layout.waiting(of: id))
        let kept = names(in: home, of: layout.permanentArea) { name, _ in
            name.hasPrefix("@") && name.hasSuffix(".avpack")
        }
        let digests = (try? WaitingPacks(layout: layout, id: id).digests()) ?? []
        let expected = Set(digests.map { "@\($0.hex).avpack" })
        let brought = names(in: waiting, of: layout.sharedArea) { name, status in
            expected.contains(name) && status.hardLinks == 1
        }
        return kept.map { Self(id: id, file: home.appending($0)) }
            + prefix(
                brought.map { Self(id: id, file: waiting.appending($0), area: layout.sharedArea) },
                waitingLimit,
                budget)
    }

    /// Opened versions of a pack.
    static func trees(of id: PackID, in layout: StoreLayout) -> [Self] {
        let home = layout.home(of: id)
        return names(in: home, of: layout.permanentArea) { name, _ in
            VersionName(ofEntry: name).map { $0.form == .opened && name == $0.tailFile } ?? false
        }.compactMap { tail in
            VersionName(ofEntry: tail).map {
                Self(id: id, file: home.appending(tail), tree: home.appending($0.text))
            }
        }
    }

    /// The trees that downloads of other versions of a pack were opened into, with the files of these downloads.
    static func arrivingTrees(of id: PackID, besides pack: PackManifest, in layout: StoreLayout) -> [Self] {
        let (home, own) = (layout.home(of: id), layout.arrivingTree(of: pack).lastComponent?.string)
        let trees = names(in: home, of: layout.permanentArea) { name, _ in
            VersionName(ofEntry: name)?.arrivingTree == name && name != own
        }
        guard !trees.isEmpty else { return [] }
        let parts = names(in: layout.ephemeral, of: layout.ephemeralArea) { name, status in
            StoreLayout.digest(inDownload: name) != nil && name.hasSuffix(".part")
                && EphemeralName.isOurs(status)
        }
        return trees.prefix(Self.arrivingTreeLimit).flatMap { tree in
            parts.filter { VersionName(ofEntry: tree)?.isVersion(withDigest: $0) == true }.prefix(1).map {
                Self(id: id, file: layout.ephemeral.appending($0), tree: home.appending(tree))
            }
        }
    }

    private static let arrivingTreeLimit = 2

    /// Downloads, complete or partial, of packs under a content key.
    static func arriving(
        in layout: StoreLayout, besides own: FilePath?, under key: ContentKeyID, within budget: ReuseBudget
    ) -> [Self] {
        let found = names(in: layout.ephemeral, of: layout.ephemeralArea) { name, status in
            StoreLayout.digest(inDownload: name) != nil && !name.hasSuffix(StoreLayout.markSuffix)
                && name != own?.lastComponent?.string
                && (try? EphemeralName.isReadable(status, at: layout.ephemeral.appending(name))) == true
        }
        let sources = found.map {
            Self(id: nil, file: layout.ephemeral.appending($0), area: layout.ephemeralArea)
        }
        return prefix(sources, arrivingLimit, budget).filter { $0.openPack(under: key) != nil }
    }

    /// The file itself, whatever its name; nil where there is none.
    var identity: FileIdentity? {
        guard let found = try? FileSystem.status(of: file) else { return nil }
        return FileIdentity(device: found.device, inode: found.inode, changed: found.changed)
    }

    private static func names(
        in path: FilePath, of area: StoreArea, where isWanted: (String, FileStatus) -> Bool
    ) -> [String] {
        guard let folder = (try? area.openFolder(path)) ?? nil, let names = try? area.names(in: path) else {
            return []
        }
        return names.filter { name in
            guard let status = try? folder.status(of: name) else { return false }
            return isWanted(name, status)
        }.sorted()
    }
}

/// A file whatever its name. A later file may have its number, and has another time.
struct FileIdentity: Hashable {
    let device: UInt64
    let inode: UInt64
    let changed: Int64
}
