import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// The folder of one pack in permanent storage: its versions, and the link `current` to the live one. No version is removed
/// while a reader holds it.
struct VersionFolder: ~Copyable {
    let id: PackID
    let folder: Folder
    private let layout: StoreLayout

    /// Nil where the pack has no folder.
    init?(of id: PackID, in layout: StoreLayout) throws(VaultError) {
        guard try FileSystem.exists(layout.home(of: id)) else { return nil }
        folder = try Folder(opening: layout.home(of: id))
        (self.id, self.layout) = (id, layout)
    }

    /// The version that is live, by the record, or by the manifest beside it where the record names another version;
    /// nil when it leads to nothing, or neither names it.
    func live(recorded: PackRecord.Loaded?) throws(VaultError) -> PackRecord.Loaded? {
        guard let name = try linkedName() else { return nil }
        // Stores have many packs: their manifests are not read for each look at them.
        if let recorded, isName(name, of: recorded) { return recorded }
        do throws(VaultError) {
            let pack = try PackManifestFile.read(beside: folder.path.appending(name))
            let loaded = PackRecord.Loaded(pack: pack, form: name.hasSuffix(".avpack") ? .sealed : .opened)
            return isName(name, of: loaded) ? loaded : nil
        } catch {
            // An unreadable manifest is still there: its version is not to be removed.
            guard error.category != .io else { throw error }
            return nil
        }
    }

    private func linkedName() throws(VaultError) -> String? {
        do throws(VaultError) {
            guard let name = try layout.liveName(of: id, in: folder)?.lastComponent?.string else {
                return nil
            }
            return try folder.status(of: name) == nil ? nil : name
        } catch {
            guard error.category != .io else { throw error }
            return nil
        }
    }

    private func isName(_ name: String, of loaded: PackRecord.Loaded) -> Bool {
        loaded.pack.id == id && loaded.name.text == name
    }

    /// Writes the manifest beside a version again where it is damaged: the record has it, too. True where it was.
    @discardableResult
    func repairManifest(of loaded: PackRecord.Loaded) throws(VaultError) -> Bool {
        let version = layout.version(loaded.pack, as: loaded.form)
        if (try? PackManifestFile.read(beside: version)) == loaded.pack { return false }
        try loaded.pack.save(beside: version)
        return true
    }

    /// Makes a complete version the live one.
    func activate(_ version: VersionName) throws(VaultError) {
        let lastUse = LastUse(in: folder)
        try folder.replaceLink("current", target: FilePath(version.text))
        lastUse.note(in: folder)
    }

    /// Makes no version live.
    func deactivate() throws(VaultError) {
        guard try folder.status(of: "current") != nil else { return }
        try folder.unlink("current")
        try folder.synchronize()
    }

    /// Removes all versions but those of the record and those that a reader holds: a later command removes these. Of versions that these
    /// rest on the files stay. Trees of packs that are being downloaded or opened stay, also a complete one of a process that died before
    /// it activated it.
    func removeVersions(beside record: PackRecord) throws(VaultError) {
        let expected = record.versions.map(\.name) + record.begun.map { VersionName(of: $0, as: .opened) }
        var kept = expected
        var free: [VersionName] = []
        for name in try versionNames() where !expected.contains(where: { $0.text == name.text }) {
            if try whileFree(name, {}) { free.append(name) } else { kept.append(name) }
        }
        // An older version may rest on a newer one: all are known before one is removed.
        let needed = try bases(of: kept)
        for name in free where !needed.contains(name.text) {
            let isRemoved = try whileFree(name) { () throws(VaultError) in try folder.discardTree(name.text) }
            if !isRemoved { kept.append(name) }
        }
        var damaged: [String] = []
        for name in kept where try isHeld(name.damaged) { damaged.append(name.damaged) }
        let trees = try removeArrivingTrees(except: record.begun)
        try folder.discardStoreEntries(
            except: kept.flatMap { [$0.text, $0.text + ".json", $0.tailFile, $0.places] } + needed + damaged
                + trees)
        let isHeld =
            kept.count > expected.count || !damaged.isEmpty
            || !trees.isSubset(of: expected.map(\.arrivingTree))
        let held = HeldVersions(layout: layout)
        if isHeld { try held.note(id) } else { try held.forget(id) }
    }

    /// The files that some versions rest on.
    private func bases(of versions: [VersionName]) throws(VaultError) -> Set<String> {
        var found: Set<String> = []
        for name in versions { found.formUnion(try bases(of: name)) }
        return found
    }

    /// Whether the live version, one that is ready, or one that a reader holds rests on the file of a version.
    func isBase(_ name: VersionName, beside record: PackRecord) throws(VaultError) -> Bool {
        var resting = record.versions.map(\.name)
        if let live = try live(recorded: record.loaded) { resting.append(live.name) }
        for other in try versionNames() where other.text != name.text {
            if try !whileFree(other, {}) { resting.append(other) }
        }
        return try bases(of: resting).contains(name.text)
    }

    private func versionNames() throws(VaultError) -> [VersionName] {
        var found: [String: VersionName] = [:]
        for name in try folder.names() {
            guard let name = VersionName(ofEntry: String(decoding: name, as: UTF8.self)) else { continue }
            found[name.text] = name
        }
        return found.values.sorted { $0.text < $1.text }
    }

    /// The files that a version rests on. Where that can't be read, and the version has holes, it may be any sealed one.
    func bases(of name: VersionName) throws(VaultError) -> Set<String> {
        guard name.form == .sealed else { return [] }
        let places = try usable(PiecePlaces(beside: folder.path.appending(name.text)))
        if let places { return Set(places.bases) }
        guard try usable(folder.openFile(name.text).hasHoles) == true else { return [] }
        return Set(try versionNames().filter { $0.form == .sealed }.map(\.text))
    }

    /// Bytes that versions take on the disk, about, with the files that they rest on.
    func sizeOnDisk(of versions: [PackRecord.Loaded]) -> UInt64 {
        var files: Set<String> = []
        for version in versions where version.form == .sealed {
            files.formUnion((try? bases(of: version.name)) ?? [])
            files.insert(version.name.text)
        }
        let sealed = folder.allocatedSize(of: files)
        let opened = versions.filter { $0.form == .opened }.saturatingSum(\.pack.installedSize)
        return sealed.saturatingAdding(opened)
    }

    /// Removes the trees that packs were opened into, except those of some packs and of living processes, which it returns.
    private func removeArrivingTrees(except packs: [PackManifest]) throws(VaultError) -> Set<String> {
        var left = Set(packs.map { VersionName(of: $0, as: .opened).arrivingTree })
        for name in try folder.names().map({ String(decoding: $0, as: UTF8.self) })
        where VersionName(ofEntry: name)?.arrivingTree == name && !left.contains(name) {
            // Locked until it is gone, so that no process takes it up meanwhile.
            guard let tree = try usable(folder.openFolder(name)) else { continue }
            if try !tree.tryLock(exclusive: true) {
                left.insert(name)
            } else {
                try folder.discardTree(name)
            }
        }
        return left
    }

    /// Whether no reader holds a version.
    func isFree(_ loaded: PackRecord.Loaded) throws(VaultError) -> Bool { try whileFree(loaded.name) {} }

    /// Runs `body` while no reader holds a version, or the damaged copy that a repair left to its readers; false if one does. A
    /// process that opened it but has no lock yet finds the name removed.
    func whileFree(_ name: VersionName, _ body: () throws(VaultError) -> Void) throws(VaultError) -> Bool {
        if try isHeld(name.damaged) { return false }
        // A link, for example, is corrupt: no reader holds it as a version.
        let found = try optional(StagedVersion(name, in: folder, exclusively: true), ignoring: .corrupt)
        guard let version = found else {
            try body()
            return true
        }
        guard try version.tryLock(exclusive: true) else { return false }
        defer { version.unlock() }
        try body()
        return true
    }

    /// Whether a reader holds a file or a tree.
    func isHeld(_ name: String) throws(VaultError) -> Bool {
        guard let found = try folder.status(of: name) else { return false }
        if found.kind == .folder {
            guard let tree = try usable(folder.openFolder(name)) else { return false }
            return try !tree.tryLock(exclusive: true)
        }
        // A link, for example, or removed meanwhile.
        let file = try optional(StagedVersion.lockableFile(name, in: folder), ignoring: .corrupt, .missing)
        guard let file else { return false }
        return try !file.tryLock(exclusive: true)
    }
}
