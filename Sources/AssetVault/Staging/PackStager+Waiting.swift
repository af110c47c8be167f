import SealedPack
import VaultBase
import VaultFileSystem

/// A pack that waits in shared storage: others may have written its file, so it is verified before it is used.
extension PackStager {
    /// The pack that waits in shared storage, verified again, since disks fail. A damaged one becomes a partial download, whose damaged
    /// pieces are fetched. Nil then, and where there is none.
    func verifiedWaitingPack(_ pack: PackManifest, listedBy listing: ListingVersion)
        async throws(VaultError) -> ArrivedPack?
    {
        guard let waiting = try store.waiting(pack.id).open(pack) else { return nil }
        observer(.verifying(pack.id, bytes: 0, total: pack.length))
        do throws(VaultError) {
            let isResting = try waiting.file.hasHoles
            if !isResting, try pack.isVerified(by: waiting.file) { return ArrivedPack(waiting) }
            if let resting = try await restingPack(pack, in: waiting) { return resting }
        } catch {
            // An unreadable sector is damage.
            guard error.category == .io, !error.isOpenFileLimit, !Task.isCancelled else { throw error }
        }
        try await store.transfer.returnForRepair(waiting.file.path, of: pack, listedBy: listing)
        return nil
    }

    /// A pack whose file has only the pieces that are not in the tree that an earlier attempt opened it into, or in the live version, or
    /// in files beside it, or in trees. Nil where a piece is missing, or is in a tree and the pack is not to be opened. Throws `.key`
    /// without its key.
    private func restingPack(_ pack: PackManifest, in file: OpenFileReference) async throws(VaultError)
        -> ArrivedPack?
    {
        do throws(VaultError) {
            let source = try PackFile(file, as: pack, named: pack.id.description)
            let isBegun = try FileSystem.exists(store.layout.arrivingTree(of: pack))
            // What a process began to open waits as it is.
            if isBegun, keys == nil { return ArrivedPack(file, resting: .inTrees(nil, nil)) }
            if isBegun, let begun = try await begunPack(pack, of: source, in: file) { return begun }
            let written = try await source.writtenPieces()
            if let resting = try restingOnFiles(source, of: pack, having: written) {
                return ArrivedPack(file, on: resting.bases)
            }
            // Also what files had that were freed as they were opened.
            guard case .trees(let keys, _) = try arrivalBasis(for: pack.id) else { return nil }
            let opened = try await OpenPack(source, keys: keys)
            guard let basis = try await reusablePacks.basis(for: opened, of: pack),
                written.indices.allSatisfy({ written[$0] || basis.has(piece: $0) })
            else { return nil }
            return ArrivedPack(file, resting: .inTrees(basis, nil))
        } catch {
            guard error.category == .corrupt else { throw error }
            return nil
        }
    }

    /// The pack with the pieces that a live sealed version has, else files that wait. Nil where a piece is missing.
    private func restingOnFiles(
        _ source: PackFile, of pack: PackManifest, having written: [Bool]
    ) throws(VaultError) -> PackFile? {
        if case .sealed(let earlier, let ownName) = try reusablePacks.liveVersion(of: pack),
            let resting = try source.resting(on: [earlier], as: ownName, having: written)
        {
            return resting
        }
        let names = try store.waiting(pack.id).bases(of: pack)
        guard !names.isEmpty else { return nil }
        let files = try reusablePacks.waitingFiles(names, of: pack)
        let ownName = source.file.path.lastComponent?.string ?? ""
        // They may have any bytes, and the file system may report a hole as data.
        return try source.resting(on: files, as: ownName, having: written) { file, range, number in
            (try? source.isSound(number, at: range, in: file)) == true
        }
    }

    /// A pack whose file was freed in part while it was opened. Nil where a piece is neither in the file
    /// nor in the tree. Throws `.busy` while another process opens it.
    private func begunPack(
        _ pack: PackManifest, of source: PackFile, in file: OpenFileReference
    ) async throws(VaultError) -> ArrivedPack? {
        guard let keys else { return nil }
        let opened = try await OpenPack(source, keys: keys)
        let basis = try await reusablePacks.basis(for: opened, of: pack)
        guard
            let tree = try await ArrivingTree.claim(
                pack, opening: opened, restingOn: basis, in: store.layout)
        else {
            // Another process has the tree, or just gave it its final name; else it can't be used, and was removed.
            let layout = store.layout
            for path in [layout.arrivingTree(of: pack), layout.version(pack, as: .opened)]
            where try FileSystem.exists(path) {
                throw .supersededByAnotherProcess(pack.id, in: layout)
            }
            return nil
        }
        // No other process frees pieces of the file any more.
        let written = try await source.writtenPieces()
        let isComplete = written.indices.allSatisfy {
            written[$0] || tree.writer.has(piece: $0) || basis?.has(piece: $0) == true
        }
        return isComplete ? ArrivedPack(file, resting: .inTrees(basis, tree)) : nil
    }

    /// Opens a pack that waited. Nil where what it rests on has other bytes than it should: then it becomes a partial download.
    func transferWaiting(
        _ waiting: ArrivedPack, of pack: PackManifest, listedBy listing: ListingVersion
    ) async throws(VaultError) -> PackState? {
        do throws(VaultError) { return try await transfer(waiting, of: pack, listedBy: listing) } catch {
            guard error.category == .corrupt else { throw error }
            guard !waiting.isWhole else {
                // Another process may have begun to free it since it was verified.
                guard (try? waiting.file.file.hasHoles) == true else { throw error }
                throw .supersededByAnotherProcess(pack.id, in: store.layout)
            }
            try await store.transfer.returnForRepair(waiting.file.file.path, of: pack, listedBy: listing)
            return nil
        }
    }
}
