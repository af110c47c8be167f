import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// What goes away: it loses its final name first, so that nothing half-removed ever has one.
extension PackStaging {
    /// Removes partial downloads that no process holds.
    func clearEphemeral() throws(VaultError) {
        try FileSystem.createFolders(layout.ephemeral, permissions: 0o700)
        let folder = try Folder(opening: layout.ephemeral)
        for name in try folder.names() where name.suffix(5).elementsEqual(".part".utf8) {
            guard let part = try? folder.updateFile(name), try part.tryLock(exclusive: true),
                try folder.status(of: name)?.isSameFile(as: part.status()) == true
            else { continue }
            try folder.unlink(name)
        }
    }

    /// Packs that wait for their key, but for one.
    func removeWaiting(of id: PackID, except kept: PackDescriptor?) throws(VaultError) {
        let path = layout.waiting(of: id)
        guard try FileSystem.exists(path) else { return }
        let keptName = kept.map { "@\($0.sha256.hex).avpack" } ?? ""
        try removeOurs(in: try Folder(opening: path), except: [keptName])
    }

    /// Versions in permanent storage, but for the live one and those that somebody holds: these go at a later fetch.
    func removeVersions(
        of id: PackID, in home: borrowing Folder, except loaded: PackRecord.Loaded?
    ) throws(VaultError) {
        var kept = loaded.map { [layout.versionName(of: $0.pack, as: $0.form)] } ?? []
        for text in try home.names().map({ String(decoding: $0, as: UTF8.self) }) {
            guard let name = VersionName(text), !kept.contains(text) else { continue }
            if try !removeVersion(name, in: home) { kept.append(text) }
        }
        try removeOurs(in: home, except: kept + kept.map { $0 + ".json" })
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
        let found: StagedVersion?
        do throws(VaultError) { found = try StagedVersion(name, in: home, exclusively: true) } catch {
            // A link, say: nobody holds it as a version.
            guard error.category == .corrupt else { throw error }
            return true
        }
        // Where the file system has no locks nobody can hold anything.
        guard let version = found else { return true }
        guard version.tryLock(exclusive: true) ?? true else { return false }
        try home.discardTree(name.text)
        version.unlock()
        return true
    }

    /// Removes what is named with an `@`; other names are those of packs below this one.
    private func removeOurs(in folder: borrowing Folder, except kept: [String]) throws(VaultError) {
        for name in try folder.names()
        where name.first == UInt8(ascii: "@") && !kept.contains(where: { $0.utf8.elementsEqual(name) }) {
            try folder.discardTree(name)
        }
    }
}
