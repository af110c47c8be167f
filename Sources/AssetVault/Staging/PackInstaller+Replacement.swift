import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Puts a sound copy in the place of the live version of a pack, which was damaged.
extension PackInstaller {
    /// Replaces a sealed version by the same bytes, sound again; false where it is no longer live. Its readers keep the damaged
    /// one, under a name beside it.
    func replaceFile(_ pack: PackManifest, by whole: OpenFileReference) async throws(VaultError) -> Bool {
        // Recovery removes what has this name.
        let repaired = FilePath(layout.version(pack, as: .sealed).string + ".repaired")
        try FileSystem.removeTree(repaired)
        let move = try VerifiedMove(of: whole, pack, to: repaired, in: store)
        return try await store.withLock(move) { move throws(VaultError) in
            guard let name = try liveName(of: pack, as: .sealed),
                let versions = try VersionFolder(of: pack.id, in: layout)
            else { return false }
            var move: VerifiedMove? = move
            func swap() throws(VaultError) {
                try move.take()?.commit()
                try FileSystem.move(
                    repaired, to: versions.folder.path.appending(name.text), replacing: true)
            }
            if try !versions.whileFree(name, swap) {
                try HeldVersions(layout: layout).set(true, of: pack.id)
                try leaveToReaders(name, of: pack, in: versions)
                try swap()
            }
            try versions.folder.synchronize()
            return true
        }
    }

    /// The same for an opened version: the sound tree is written aside, and both exchange their names.
    func replaceTree(
        _ pack: PackManifest, by source: OpenPack, progress: (UInt64) -> Void
    ) async throws(VaultError) -> Bool {
        let tree = try await write(source, of: pack, progress: progress)
        return try await store.withLock(tree) { tree throws(VaultError) in
            guard let name = try liveName(of: pack, as: .opened),
                let versions = try VersionFolder(of: pack.id, in: layout)
            else { return false }
            if try versions.isHeld(name.damaged) { throw isRead(pack) }
            try versions.folder.discardTree(name.damaged)
            let isFree = try versions.whileFree(name) {}
            if !isFree { try HeldVersions(layout: layout).set(true, of: pack.id) }
            // The sound tree first has the name that recovery removes, and then the version's.
            try tree.commit(to: versions.folder.path.appending(name.damaged))
            if try versions.folder.status(of: name.text) == nil {
                try versions.folder.rename(name.damaged, to: versions.folder, as: name.text, replacing: false)
            } else {
                try versions.folder.exchange(name.text, with: name.damaged)
            }
            try versions.folder.synchronize()
            if isFree { try versions.folder.discardTree(name.damaged) }
            return true
        }
    }

    /// The name of the version, if it is live in this form.
    private func liveName(of pack: PackManifest, as form: PackForm) throws(VaultError) -> VersionName? {
        guard let live = try store.records.record(of: pack.id).loaded, live.pack.sha256 == pack.sha256,
            live.form == form
        else { return nil }
        return live.name
    }

    /// The damaged file gets a name of its own. A repair that was killed may have done that already.
    private func leaveToReaders(
        _ name: VersionName, of pack: PackManifest, in versions: borrowing VersionFolder
    ) throws(VaultError) {
        if let left = try versions.folder.status(of: name.damaged) {
            if try versions.folder.status(of: name.text)?.isSameFile(as: left) == true { return }
            if try versions.isHeld(name.damaged) { throw isRead(pack) }
            try versions.folder.discardTree(name.damaged)
        }
        try versions.folder.link(name.text, as: name.damaged)
    }

    private func isRead(_ pack: PackManifest) -> VaultError {
        VaultError(
            .busy, "what an earlier repair replaced is still being read", at: pack.id.description,
            remedy: "end the program that reads it, and repair the pack again")
    }
}
