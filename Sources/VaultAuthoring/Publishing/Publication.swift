public import SealedPack
import SystemPackage
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
    }

    public let packs: [Pack]
    /// The metadata files that were written.
    public let written: [String]
}

/// Seals what changed in a vault and writes its signed site.
///
/// Readers see the old site or the new one: packs come first, under names that nobody knows yet, then the metadata,
/// the timestamp last. With nothing changed nothing is written, except metadata that would soon expire.
public struct Publication: Sendable {
    let vault: VaultFolder
    let settings: VaultSettings
    let keys: any KeyProvider
    let now: UTCTime

    public init(of vault: VaultFolder, _ settings: VaultSettings, keys: any KeyProvider, now: UTCTime) {
        self.vault = vault
        self.settings = settings
        self.keys = keys
        self.now = now
    }

    /// - Parameter onPack: told of each pack before it is sealed, and how many of its bytes are done.
    public func run(onPack: (PackID, UInt64) -> Void = { _, _ in }) async throws(VaultError)
        -> PublicationReport
    {
        guard let lock = try FileLock.tryAcquire(vault.lock, .exclusive) else {
            throw VaultError(
                .busy, "somebody else is publishing this vault", at: vault.path.string,
                remedy: "wait until they are done")
        }
        let metadata = MetadataFolder(vault.metadata)
        let current = try await CurrentSite(of: vault, in: metadata)
        try FileSystem.createFolders(vault.targets, permissions: 0o755)

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
                    pieces: descriptor.pieceCount, reusedPieces: result.reusedPieces))
        }
        for old in current.packs?.listings ?? []
        where !settings.packs.contains(where: { $0.id == old.pack.id }) {
            report.append(
                PublicationReport.Pack(
                    id: old.pack.id, version: old.pack.version, change: .removed, length: old.pack.length,
                    pieces: old.pack.pieceCount, reusedPieces: 0))
        }
        let files = try MetadataRenewal(
            current: current.chain, root: current.root, metadata: metadata, keys: SigningKeys(of: vault),
            lifetime: settings.lifetime, now: now
        ).files(listing: records)
        if !files.isEmpty { try await metadata.publish(files, now: now) }
        _ = consume lock
        return PublicationReport(packs: report, written: files.map(\.hostedName))
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
        let source = try PackSource(
            vault.path.pushing(pack.source), taking: pack.filter, unpackingBeside: vault.targets)
        let order = SealingOrder(
            id: pack.id, versioning: earlier.map(PackVersioning.following) ?? .exactly(1), key: choice.key,
            slots: choice.slots, offer: pack.offer, previous: earlier)
        let folder = vault.targets.appending(pack.id.targetPath).removingLastComponent()
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
