import SealedPack
import StrictJSON
import SystemPackage
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// The steps of a pack through the three areas. Each step is durable before the next one begins, and each leaves
/// the store whole wherever it is cut off: a pack has its final name only when it is complete.
struct PackStaging: Sendable {
    let layout: StoreLayout
    var records: PackRecords { PackRecords(layout: layout) }

    /// How long to wait for another process to leave the store.
    private static let patience = Duration.seconds(30)

    /// Exclusive control of the store: held for transitions, not for transfers.
    func lock() async throws(VaultError) -> FileLock {
        try FileSystem.createFolders(layout.shared, permissions: 0o700)
        return try await FileLock.acquire(layout.lock, .exclusive, patience: Self.patience)
    }

    /// To shared: the verified file becomes a pack that waits to be transferred.
    func share(_ verified: OpenFileReference, of pack: PackDescriptor, listedBy listing: ListingVersion)
        async throws(VaultError)
    {
        let target = layout.waitingPack(pack)
        try FileSystem.createFolders(target.removingLastComponent(), permissions: 0o700)
        let arrival = try arrival(of: verified, of: pack, at: target)
        let control = try await lock()
        try arrive(arrival, of: pack, at: target)
        var record = try records.record(of: pack.id)
        if record.listing <= listing {
            record.waiting = pack
            record.listing = listing
            record.failure = nil
            try records.save(record, of: pack.id)
        }
        try removeWaiting(of: pack.id, except: record.waiting)
        _ = consume control
    }

    /// The pack that waits in shared storage, nil where it does not.
    func waitingPack(_ pack: PackDescriptor) throws(VaultError) -> OpenFileReference? {
        do throws(VaultError) {
            return OpenFileReference(try OpenFile(reading: layout.waitingPack(pack)))
        } catch {
            guard error.category == .missing else { throw error }
            return nil
        }
    }

    /// To permanent, still sealed.
    func keepSealed(_ file: OpenFileReference, of pack: PackDescriptor, listedBy listing: ListingVersion)
        async throws(VaultError)
    {
        let target = layout.version(pack, as: .sealed)
        try FileSystem.createFolders(layout.home(of: pack.id), permissions: 0o755)
        let arrival = try arrival(of: file, of: pack, at: target)
        let control = try await lock()
        if try !FileSystem.exists(target) {
            try saveDescriptor(of: pack, as: .sealed)
            try arrive(arrival, of: pack, at: target)
        }
        try publish(pack, as: .sealed, listedBy: listing)
        _ = consume control
    }

    /// To permanent, opened: a tree is built aside, saved to the disk as a whole and renamed.
    func open(
        _ source: OpenPack, of pack: PackDescriptor, listedBy listing: ListingVersion,
        progress: (UInt64) -> Void
    ) async throws(VaultError) {
        let home = layout.home(of: pack.id)
        try FileSystem.createFolders(home, permissions: 0o755)
        let version = layout.version(pack, as: .opened)
        guard try !FileSystem.exists(version) else {
            let control = try await lock()
            guard try FileSystem.exists(version) else { throw wasRemoved(pack) }
            try publish(pack, as: .opened, listedBy: listing)
            _ = consume control
            return
        }
        let needed = pack.openedSize + (16 << 20)
        guard try FileSystem.availableSpace(at: home) >= needed else {
            throw VaultError(
                .io, "the disk is full: opening '\(pack.id)' takes \(needed) bytes", at: home.string,
                remedy: "free some space")
        }
        let tree = try ScratchFolder(in: home)
        var sink = try TreeSink(into: tree.path)
        try await source.extract(to: &sink, progress: progress)
        // Saved before the lock is taken: this may last.
        try tree.folder.synchronizeFileSystem()
        let control = try await lock()
        if try FileSystem.exists(version) {
            _ = consume tree
        } else {
            try saveDescriptor(of: pack, as: .opened)
            try tree.commit(to: version, permissions: 0o755)
        }
        try publish(pack, as: .opened, listedBy: listing)
        _ = consume control
    }

    /// Swings `current` to a complete version, records it and removes what it replaces. A process that was overtaken
    /// by one with newer metadata changes nothing.
    private func publish(_ pack: PackDescriptor, as form: PackForm, listedBy listing: ListingVersion)
        throws(VaultError)
    {
        let home = try Folder(opening: layout.home(of: pack.id))
        var record = try records.record(of: pack.id)
        if record.listing <= listing {
            try saveDescriptor(of: pack, as: form)
            try home.replaceLink("current", target: FilePath(layout.versionName(of: pack, as: form)))
            record.loaded = PackRecord.Loaded(pack: pack, form: form)
            record.waiting = nil
            record.listing = listing
            record.failure = nil
            try records.save(record, of: pack.id)
        }
        try removeWaiting(of: pack.id, except: record.waiting)
        try removeVersions(of: pack.id, in: home, except: record.loaded)
    }

    /// Notes what newer metadata says of a pack that is loaded already, such as slots for other keys.
    func settle(_ pack: PackDescriptor, listedBy listing: ListingVersion) async throws(VaultError) {
        let control = try await lock()
        let form = try records.record(of: pack.id).loaded?.form
        if let form { try publish(pack, as: form, listedBy: listing) }
        _ = consume control
    }

    /// The descriptor beside a version, so that whatever `current` points to explains itself.
    private func saveDescriptor(of pack: PackDescriptor, as form: PackForm) throws(VaultError) {
        let bytes = descriptorBytes(of: pack)
        try DurableFile.write(
            bytes.span, to: PackDescriptorFile.path(beside: layout.version(pack, as: form)),
            permissions: 0o644, replacing: true)
    }

    func descriptorBytes(of pack: PackDescriptor) -> [UInt8] {
        JSONValue.object(pack.json).canonical()
    }
}
