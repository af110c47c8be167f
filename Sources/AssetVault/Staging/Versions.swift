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
        var kept = loaded.map { [layout.versionName(of: $0.pack, as: $0.form)] } ?? []
        for text in try home.names().map({ String(decoding: $0, as: UTF8.self) }) {
            guard let name = VersionName(text), !kept.contains(text) else { continue }
            if try !removeVersion(name, in: home) { kept.append(text) }
        }
        var beside = kept.map { $0 + ".json" }
        for name in kept.compactMap(VersionName.init) where try !discardDamaged(of: name, in: home) {
            beside.append(name.damaged)
        }
        try removeOurs(in: home, except: kept + beside)
    }

    /// Whether anything is left of versions that were replaced: they were in use at that time.
    func hasLeftovers(of pack: PackDescriptor, as form: PackForm) throws(VaultError) -> Bool {
        let name = layout.versionName(of: pack, as: form)
        return try Folder(opening: layout.home(of: pack.id)).names().contains {
            $0.first == UInt8(ascii: "@") && !$0.elementsEqual(name.utf8)
                && !$0.elementsEqual((name + ".json").utf8)
        }
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

    /// Does something while nobody holds a version; false when somebody does.
    func whileFree(
        _ name: VersionName, in home: borrowing Folder, _ body: () throws(VaultError) -> Void
    ) throws(VaultError) -> Bool {
        guard try discardDamaged(of: name, in: home) else { return false }
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

    /// Removes what a repair left to those who read it; false while they do.
    private func discardDamaged(of name: VersionName, in home: borrowing Folder) throws(VaultError) -> Bool {
        guard try home.status(of: name.damaged) != nil else { return true }
        if let file = try? home.updateFile(name.damaged), (try? file.tryLock(exclusive: true)) == false {
            return false
        }
        try home.discardTree(name.damaged)
        return true
    }
}
