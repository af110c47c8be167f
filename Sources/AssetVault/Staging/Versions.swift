import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// The versions of a pack in permanent storage, and who holds them: none goes away while somebody does.
extension PackStaging {
    /// Versions in permanent storage, but for the live one and those that somebody holds: these go at a later fetch.
    func removeVersions(
        of id: PackID, in home: borrowing Folder, except loaded: PackRecord.Loaded?
    ) throws(VaultError) {
        let live = loaded.map { layout.versionName(of: $0.pack, as: $0.form) }
        var kept = live.map { [$0] } ?? []
        var seen = Set(kept)
        for text in try home.names().map({ String(decoding: $0, as: UTF8.self) }) {
            guard let name = VersionName(ofEntry: text), seen.insert(name.text).inserted else { continue }
            if try !removeVersion(name, in: home) { kept.append(name.text) }
        }
        let names = kept.compactMap { VersionName($0) }
        var damaged: [String] = []
        for name in names where try isHeld(name.damaged, in: home) { damaged.append(name.damaged) }
        try removeOurs(in: home, except: kept + kept.map { $0 + ".json" } + names.map(\.tail) + damaged)
        try noteHeld(kept.count + damaged.count > (live == nil ? 0 : 1), of: id)
    }

    /// False when somebody holds it. Whoever opened it without having the lock yet finds the name gone.
    private func removeVersion(_ name: VersionName, in home: borrowing Folder) throws(VaultError) -> Bool {
        try whileFree(name, in: home) { () throws(VaultError) in try home.discardTree(name.text) }
    }

    /// Whether nobody reads the live version now.
    func isFree(_ loaded: PackRecord.Loaded, in home: borrowing Folder) throws(VaultError) -> Bool {
        guard let name = VersionName(layout.versionName(of: loaded.pack, as: loaded.form)) else {
            return false
        }
        return try whileFree(name, in: home) {}
    }

    /// Does something while nobody holds a version, nor what a repair left of it to those who read it; false when somebody
    /// does.
    func whileFree(
        _ name: VersionName, in home: borrowing Folder, _ body: () throws(VaultError) -> Void
    ) throws(VaultError) -> Bool {
        if try isHeld(name.damaged, in: home) { return false }
        let found: StagedVersion?
        do throws(VaultError) { found = try StagedVersion(name, in: home, exclusively: true) } catch {
            guard error.category == .corrupt else { throw error }
            // A link, say: nobody holds it as a version.
            found = nil
        }
        guard let version = found else {
            try body()
            return true
        }
        // Where the file system has no locks nobody can hold anything.
        guard version.tryLock(exclusive: true) ?? true else { return false }
        defer { version.unlock() }
        try body()
        return true
    }

    /// Whether somebody reads a file or a tree.
    func isHeld(_ name: String, in home: borrowing Folder) throws(VaultError) -> Bool {
        guard let found = try home.status(of: name) else { return false }
        do throws(VaultError) {
            if found.kind == .folder {
                return (try? home.openFolder(name).tryLock(exclusive: true)) == false
            }
            let file = try StagedVersion.lockableFile(name, in: home)
            // Where the file system has no locks nobody can hold anything.
            return (try? file.tryLock(exclusive: true)) == false
        } catch {
            // A link, say, or gone by now.
            guard [.corrupt, .missing].contains(error.category) else { throw error }
            return false
        }
    }
}
