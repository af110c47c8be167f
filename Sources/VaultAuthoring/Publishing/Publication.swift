public import SealedPack
public import SystemPackage
public import UpdateFramework
import VaultArchive
import VaultCrypto
public import VaultErrors
import VaultFileSystem
public import VaultKeys
import VaultSite

/// What a publication did, for people and scripts.
public struct PublicationReport: Sendable {
    public enum Change: String, Sendable {
        case added, updated, unchanged, removed
    }

    public struct Pack: Sendable {
        public let id: PackID
        public let version: UInt64
        public let change: Change
        /// Bytes of the pack.
        public let length: UInt64
        public let pieces: UInt32
        public let reusedPieces: UInt32
        /// Vault keys that opened the previous version and don't open this one.
        public let droppedKeys: [KeyID]
    }

    public let packs: [Pack]
    /// The metadata files that were written.
    public let written: [String]
    /// What should be done before long, each a sentence.
    public let warnings: [String]
}

/// Seals what changed in a vault and writes its signed site.
///
/// Readers see the old site or the new one: packs come first, under names that nobody knows yet, then the metadata,
/// the timestamp last. With nothing changed nothing is written, except metadata that would soon expire.
public struct Publication: Sendable {
    private let vault: VaultFolder
    private let settings: VaultSettings
    private let keys: any KeyProvider
    private let now: UTCTime

    /// Publishes a vault. One publisher at a time: another one throws `.busy`.
    ///
    /// - Parameters:
    ///   - declarations: packs to declare before, or to give another source; saved when all was sealed.
    ///   - onPack: told of each pack before it is sealed, and how many of its bytes are done.
    public static func run(
        of vault: VaultFolder, declaring declarations: [(id: PackID, source: FilePath)] = [],
        keys: any KeyProvider, now: UTCTime, onPack: (PackID, UInt64) -> Void = { _, _ in }
    ) async throws(VaultError) -> PublicationReport {
        var settings = try VaultSettings(reading: vault.settings)
        guard let lock = try FileLock.tryAcquire(vault.lock, .exclusive) else {
            throw VaultError(
                .busy, "somebody else is publishing this vault", at: vault.path.string,
                remedy: "wait until they are done")
        }
        // Again, now that nobody else changes them.
        settings = try VaultSettings(reading: vault.settings)
        for declaration in declarations { try settings.declare(declaration.id, source: declaration.source) }
        let publication = Publication(vault: vault, settings: settings, keys: keys, now: now)
        let report = try await publication.run(savingSettings: !declarations.isEmpty, onPack)
        _ = consume lock
        return report
    }

    private func run(
        savingSettings isChanged: Bool, _ onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) -> PublicationReport {
        let metadata = MetadataFolder(vault.metadata)
        let current = try await CurrentSite(of: vault, in: metadata)
        try removeAbandonedScratch(current.packs)
        try FileSystem.createFolders(vault.targets, permissions: 0o755)
        try checkSources()
        var report: [PublicationReport.Pack] = []
        var records = current.foreignTargets
        for pack in settings.packs {
            onPack(pack.id, 0)
            let previous = current.packs?[pack.id]?.pack
            let result = try await seal(pack, after: previous) { done in onPack(pack.id, done) }
            let descriptor = result.descriptor
            records.append(try TargetRecord(path: pack.id.targetPath, json: descriptor.json))
            let change: PublicationReport.Change =
                previous == nil ? .added : previous == descriptor ? .unchanged : .updated
            report.append(
                PublicationReport.Pack(
                    id: pack.id, version: descriptor.version, change: change, length: descriptor.length,
                    pieces: descriptor.pieceCount, reusedPieces: result.reusedPieces,
                    droppedKeys: (previous?.slots ?? []).map(\.keyID)
                        .filter { id in !descriptor.slots.contains { $0.keyID == id } }))
        }
        for old in current.packs?.listings ?? []
        where !settings.packs.contains(where: { $0.id == old.pack.id }) {
            report.append(
                PublicationReport.Pack(
                    id: old.pack.id, version: old.pack.version, change: .removed, length: old.pack.length,
                    pieces: old.pack.pieceCount, reusedPieces: 0, droppedKeys: []))
        }
        let renewal = MetadataRenewal(
            current: current.chain, root: current.root, metadata: metadata, keys: SigningKeys(of: vault),
            lifetime: settings.lifetime, now: now)
        let files = try renewal.files(listing: records)
        if isChanged { try settings.write(to: vault.settings) }
        if !files.isEmpty { try await metadata.publish(files, now: now) }
        var warnings: [String] = []
        if try renewal.rootWaitsForItsKey {
            warnings.append(
                "the root expires at \(current.root.expires): publish once with "
                    + "\(vault.signingKey(of: .root).string) in place before then")
        }
        return PublicationReport(packs: report, written: files.map(\.hostedName), warnings: warnings)
    }

    /// Removes what publications that died have left behind.
    private func removeAbandonedScratch(_ published: PublishedPacks?) throws(VaultError) {
        let ids = settings.packs.map(\.id) + (published?.listings.map(\.pack.id) ?? [])
        let folders = [vault.path, vault.site, vault.metadata, vault.targets] + ids.map { folder(of: $0) }
        for path in folders where try FileSystem.exists(path) {
            try Folder(opening: path).removeAbandonedScratch()
        }
    }

    /// A source that is missing stops the publication before anything was sealed.
    private func checkSources() throws(VaultError) {
        for pack in settings.packs {
            let source = vault.path.pushing(pack.source)
            guard try FileSystem.status(of: source, followingLinks: true) == nil else { continue }
            throw VaultError(
                .missing, "the source of '\(pack.id)' does not exist", at: source.string,
                remedy: "correct its \"source\" in \(vault.settings.string)")
        }
    }

    /// Where the files of a pack's versions are.
    private func folder(of id: PackID) -> FilePath {
        vault.targets.appending(id.targetPath).removingLastComponent()
    }

    /// Seals a pack into the site's targets, unless the site has it already.
    private func seal(
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
            id: pack.id, versioning: earlier.map(PackVersioning.following) ?? .exactly(1), key: choice.key,
            slots: choice.slots, offer: pack.offer, previous: earlier)
        let folder = folder(of: pack.id)
        try FileSystem.createFolders(folder, permissions: 0o755)
        let scratch = try ScratchFile(for: folder.appending("pack"))
        let output = OpenFileReference(try OpenFile(duplicating: scratch.file.descriptor, named: folder))
        let result = try await order.seal(source.folder, into: output, progress: progress)
        let record = try TargetRecord(path: pack.id.targetPath, json: result.descriptor.json)
        let target = vault.targets.appending(record.hostedPath)
        if try FileSystem.exists(target) {
            _ = try verifiedPack(result.descriptor)
        } else {
            try scratch.commit(as: target.lastComponent?.string ?? "", permissions: 0o644, replacing: false)
        }
        return result
    }

    /// A pack of the site, opened only after its whole file has the signed digest.
    private func verifiedPack(_ pack: PackDescriptor) throws(VaultError) -> PackFile {
        let record = try TargetRecord(path: pack.id.targetPath, json: pack.json)
        let path = vault.targets.appending(record.hostedPath)
        let file = OpenFileReference(try OpenFile(reading: path))
        guard try file.file.status().size == pack.length, try file.file.sha256() == pack.sha256 else {
            throw VaultError(
                .corrupt, "the published pack is damaged", at: path.string,
                remedy: "restore it from your host or backup, then publish again")
        }
        return try PackFile(file, as: pack)
    }
}
