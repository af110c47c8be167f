import PackSealing
import SealedPack
import SystemPackage
import UpdateFramework
import VaultArchive
import VaultContent
import VaultCrypto
import VaultErrors
import VaultFileSystem
import VaultKeys

/// Writes packs to a site's targets, under names that no metadata lists yet.
struct PackPublisher {
    let vault: VaultFolder
    /// The vault's own keys.
    let keys: any KeyProvider
    let audiences: Audiences
    /// Overrides the settings.
    let compression: Compression?
    /// How much an archive may unpack to.
    let unpackingLimit: UnpackingLimit
    /// Provides packs that the site's folder lacks.
    let host: HostedSite?
    /// The folder for new packs: the site's targets, or scratch.
    let output: FilePath

    /// A pack up to this size is sealed to compare it with the host's, which is cheaper than a request.
    private static let smallPack: UInt64 = 1 << 20

    /// Seals a pack's source, unless the site has the result already.
    ///
    /// - Parameter withdrawn: the highest version of a pack that is not listed now.
    func seal(
        _ pack: VaultSettings.Pack, after earlier: EarlierPacks, withdrawn: UInt64?,
        progress: (UInt64) -> Void
    ) async throws(VaultError) -> SealingResult {
        let previous = try firstAvailable(earlier.candidates(for: pack.id))
        let choice = try await contentKey(following: previous, for: pack.audiences)
        let order = SealingRequest(
            id: pack.id, versioning: .exactly(1), key: choice.key, slots: choice.slots, offer: pack.offer,
            compression: compression ?? pack.compression ?? .standard)
        let source = try source(of: pack)
        return try await seal(
            order, source.folder, after: previous, above: max(pack.lastVersion, withdrawn ?? 0), progress)
    }

    /// Seals the packs of a resource tree, with one content key, and passes the results to `deliver`. Returns the files that are
    /// in no pack.
    func seal(
        _ tree: ResourceTree, after earlier: EarlierPacks, onPack: (PackID, UInt64) -> Void,
        deliver: (SealingResult) throws(VaultError) -> Void
    ) async throws(VaultError) -> [EntryPath] {
        let source = try PackSource(
            vault.path.pushing(tree.source), taking: tree.filter, unpackingBeside: vault.site,
            followLinks: tree.followsLinks, limit: unpackingLimit)
        let found = try tree.packs(of: source.folder)
        let choice = try await contentKey(following: earlier.member(of: tree.family), for: tree.audiences)
        let withdrawn = try await earlier.withdrawnVersions(of: found.packs.map(\.id))
        for pack in found.packs {
            onPack(pack.id, 0)
            let order = SealingRequest(
                id: pack.id, versioning: .exactly(1), key: choice.key, slots: choice.slots,
                offer: tree.offer(of: pack.labels),
                compression: compression ?? tree.compression ?? .standard)
            let result = try await seal(
                order, try source.folder.part(pack.entries),
                after: try firstAvailable(earlier.candidates(for: pack.id)), above: withdrawn[pack.id] ?? 0
            ) { onPack(pack.id, $0) }
            try deliver(result)
        }
        return found.untagged.map { source.folder.entries[$0].path }
    }

    private func seal(
        _ request: SealingRequest, _ source: borrowing SourceFolder, after listed: PackManifest?,
        above lastVersion: UInt64, _ progress: (UInt64) -> Void
    ) async throws(VaultError) -> SealingResult {
        var order = request
        // A pack that joins a family gets its content key: of the version before only the number counts.
        let previous = listed?.contentKeyID == order.key.id ? listed : nil
        order.versioning = .exactly(previous?.version ?? max(lastVersion, listed?.version ?? 0) + 1)
        let folder = folder(of: order.id)
        guard let previous else {
            return try await name(
                UnnamedPack(sealing: order, source, in: folder, progress: progress))
        }
        if previous.length <= Self.smallPack, try isOnlyHosted(previous) {
            let sealed = try await UnnamedPack(sealing: order, source, in: folder, progress: progress)
            if sealed.result.manifest.sha256 == previous.sha256 {
                return SealingResult(manifest: sealed.result.manifest, reusedPieces: previous.pieceCount)
            }
        }
        let (earlier, hosted) = try await published(previous, key: order.key)
        // A version number is never used twice.
        order.versioning = .following(earlier, above: lastVersion)
        order.previous = earlier
        var sealed = try await UnnamedPack(sealing: order, source, in: folder, progress: progress)
        if let hosted, !sealed.result.missedPieces.isEmpty {
            try await hosted.fetch(sealed.result.missedPieces, of: earlier)
            sealed = try await UnnamedPack(sealing: order, source, in: folder, progress: progress)
        }
        // The previous version is present and verified.
        guard sealed.result.manifest.sha256 != previous.sha256 else { return sealed.result }
        if let hosted { host?.keep(hosted, as: previous) }
        return try name(sealed)
    }

    private func source(of pack: VaultSettings.Pack) throws(VaultError) -> PackSource {
        // Never in the site: plaintext must not be uploaded, not even after a crash.
        let source = try PackSource(
            vault.path.pushing(pack.source), taking: pack.filter, unpackingBeside: vault.site,
            followLinks: pack.followsLinks, limit: unpackingLimit)
        guard pack.filter == .all || !source.folder.entries.isEmpty else {
            throw VaultError(
                .usage, "\"include\" and \"exclude\" of '\(pack.id)' leave nothing",
                at: vault.settings.string,
                remedy: "correct the patterns")
        }
        return source
    }

    /// Gives a pack its final name, which a killed publication may have done already.
    private func name(_ sealed: consuming UnnamedPack) throws(VaultError) -> SealingResult {
        let result = sealed.result
        if try FileSystem.exists(path(of: result.manifest)) {
            _ = try verifiedPack(result.manifest)
        } else {
            try sealed.name(as: path(of: result.manifest, in: output))
        }
        return result
    }

    /// The content key of the earlier version, which any key here may open, for the keys of some audiences: without any name
    /// for the vault's own.
    private func contentKey(following previous: PackManifest?, for names: [String])
        async throws(VaultError) -> ContentKeyChoice
    {
        let openers =
            previous == nil ? keys : ChainedKeyProvider([keys, try audiences.keys(of: audiences.all)])
        return try await ContentKeyChoice(
            following: previous, keys: openers, sealingFor: names.isEmpty ? keys : audiences.keys(of: names))
    }

    /// An earlier version, unchanged, for the present vault keys.
    ///
    /// - Parameter newest: the listed version; where it has the same content key, its slots are used.
    func restore(
        _ earlier: PackManifest, as declared: VaultSettings.Pack, newest: PackManifest?
    ) async throws(VaultError) -> SealingResult {
        let isSameKey = newest?.contentKeyID == earlier.contentKeyID
        let choice = try await contentKey(
            following: isSameKey ? newest : earlier, for: declared.audiences)
        _ = try await published(earlier, key: choice.key)
        var pack = earlier
        pack.slots = choice.slots
        pack.offer = declared.offer
        return SealingResult(manifest: pack, reusedPieces: pack.pieceCount)
    }

    /// A pack's file, or at least its header, index and footer.
    func file(of pack: PackManifest) async throws(VaultError) -> PackFile {
        for path in [try path(of: pack), try path(of: pack, in: output)] where try FileSystem.exists(path) {
            return try PackFile(opening: path, as: pack)
        }
        guard let host else { throw missing(try path(of: pack)) }
        return try await host.pack(pack).pack
    }

    /// Removes incomplete packs of killed publications.
    static func removeAbandonedScratch(of ids: [PackID], in targets: FilePath) throws(VaultError) {
        // Many packs share a folder.
        let folders = Set(ids.map { targets.appending($0.targetPath).removingLastComponent() })
        for path in folders where try FileSystem.exists(path) {
            try Folder(opening: path).removeAbandonedScratch()
        }
    }

    private func folder(of id: PackID) -> FilePath {
        output.appending(id.targetPath).removingLastComponent()
    }

    private func path(of pack: PackManifest, in targets: FilePath? = nil) throws(VaultError) -> FilePath {
        let record = try TargetRecord(path: pack.id.targetPath, json: pack.json)
        return (targets ?? vault.targets).appending(record.hostedPath)
    }

    private func missing(_ path: FilePath) -> VaultError {
        VaultError(
            .missing, "the published pack is not there", at: path.string,
            remedy: "restore it from your host or backup, or publish from what the host has",
            hint: .publishingFromHost)
    }

    /// A pack that waits for a signature is at no host.
    private func firstAvailable(_ packs: [PackManifest]) throws(VaultError) -> PackManifest? {
        guard let host else { return packs.first }
        for pack in packs {
            if host.lists(pack) { return pack }
            if try FileSystem.exists(path(of: pack)) { return pack }
        }
        return nil
    }

    private func isOnlyHosted(_ pack: PackManifest) throws(VaultError) -> Bool {
        guard host != nil else { return false }
        return try !FileSystem.exists(path(of: pack))
    }

    /// A published version, on this machine or at the host.
    private func published(
        _ pack: PackManifest, key: ContentKey
    ) async throws(VaultError) -> (OpenPack, HostedPack?) {
        if let host, try isOnlyHosted(pack) {
            let hosted = try await host.pack(pack)
            return (try OpenPack(hosted.pack, key: key), hosted)
        }
        return (try OpenPack(try verifiedPack(pack), key: key), nil)
    }

    /// A pack of the site whose whole file has the signed digest.
    private func verifiedPack(_ pack: PackManifest) throws(VaultError) -> PackFile {
        let path = try path(of: pack)
        guard try FileSystem.exists(path) else { throw missing(path) }
        let file = OpenFileReference(try OpenFile(reading: path))
        guard try file.file.hasContent(length: pack.length, pack.sha256) else {
            throw VaultError(
                .corrupt, "the published pack is damaged", at: path.string,
                remedy: "restore it from your host or backup, then publish again")
        }
        return try PackFile(file, as: pack)
    }
}
