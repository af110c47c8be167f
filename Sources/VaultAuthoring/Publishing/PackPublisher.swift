import SealedPack
import SystemPackage
import UpdateFramework
import VaultArchive
import VaultCrypto
import VaultErrors
import VaultFileSystem
import VaultKeys

/// Puts packs among a site's targets, under names that nobody knows yet.
struct PackPublisher {
    let vault: VaultFolder
    let keys: any KeyProvider

    /// Seals a pack's source, unless the site has the result already.
    func seal(
        _ pack: VaultSettings.Pack, after previous: PackDescriptor?, progress: (UInt64) -> Void
    ) async throws(VaultError) -> SealingResult {
        let choice = try await ContentKeyChoice(following: previous, keys: keys)
        var earlier: OpenPack?
        if let previous {
            earlier = try OpenPack(try verifiedPack(previous), key: choice.key)
        }
        // Never in the site: what is plain must not be uploaded, not even after a crash.
        let source = try PackSource(
            vault.path.pushing(pack.source), taking: pack.filter, unpackingBeside: vault.site)
        guard pack.filter == .all || !source.folder.entries.isEmpty else {
            throw VaultError(
                .usage, "\"include\" and \"exclude\" of '\(pack.id)' leave nothing",
                at: vault.settings.string,
                remedy: "correct the patterns")
        }
        let order = SealingOrder(
            id: pack.id, versioning: versioning(of: pack, after: earlier), key: choice.key,
            slots: choice.slots, offer: pack.offer, previous: earlier)
        let folder = folder(of: pack.id)
        try FileSystem.createFolders(folder, permissions: 0o755)
        let scratch = try ScratchFile(for: folder.appending("pack"))
        let output = OpenFileReference(try OpenFile(duplicating: scratch.file.descriptor, named: folder))
        let result = try await order.seal(source.folder, into: output, progress: progress)
        let target = try path(of: result.descriptor)
        if try FileSystem.exists(target) {
            _ = try verifiedPack(result.descriptor)
        } else {
            try scratch.commit(as: target.lastComponent?.string ?? "", permissions: 0o644, replacing: false)
        }
        return result
    }

    /// An earlier version as it is, sealed for the keys of now.
    ///
    /// - Parameter newest: what is listed now. Where it has the same content key, whoever opens it may restore.
    func restore(
        _ earlier: PackDescriptor, offer: PackOffer, newest: PackDescriptor?
    ) async throws(VaultError) -> SealingResult {
        let isSameKey = newest?.contentKeyID == earlier.contentKeyID
        let choice = try await ContentKeyChoice(following: isSameKey ? newest : earlier, keys: keys)
        _ = try OpenPack(try verifiedPack(earlier), key: choice.key)
        var pack = earlier
        pack.slots = choice.slots
        pack.offer = offer
        return SealingResult(descriptor: pack, reusedPieces: pack.pieceCount)
    }

    /// Removes packs that publications that died have left half-made.
    func removeAbandonedScratch(of ids: [PackID]) throws(VaultError) {
        // Many packs share a folder.
        for path in Set(ids.map { folder(of: $0) }) where try FileSystem.exists(path) {
            try Folder(opening: path).removeAbandonedScratch()
        }
    }

    /// A number that was given to a version of the pack is never given to another.
    private func versioning(of pack: VaultSettings.Pack, after earlier: OpenPack?) -> PackVersioning {
        guard let earlier else { return .exactly(pack.lastVersion + 1) }
        return .following(earlier, above: pack.lastVersion)
    }

    /// Where the files of a pack's versions are.
    private func folder(of id: PackID) -> FilePath {
        vault.targets.appending(id.targetPath).removingLastComponent()
    }

    private func path(of pack: PackDescriptor) throws(VaultError) -> FilePath {
        let record = try TargetRecord(path: pack.id.targetPath, json: pack.json)
        return vault.targets.appending(record.hostedPath)
    }

    /// A pack of the site, opened only after its whole file has the signed digest.
    private func verifiedPack(_ pack: PackDescriptor) throws(VaultError) -> PackFile {
        let path = try path(of: pack)
        let file = OpenFileReference(try OpenFile(reading: path))
        guard try file.file.status().size == pack.length, try file.file.sha256() == pack.sha256 else {
            throw VaultError(
                .corrupt, "the published pack is damaged", at: path.string,
                remedy: "restore it from your host or backup, then publish again")
        }
        return try PackFile(file, as: pack)
    }
}
