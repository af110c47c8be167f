import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite
import VaultTransport

/// A site's folder that gets files from another host of the same site. One process at a time writes it.
struct SiteFiles: ~Copyable {
    let folder: FilePath
    private let source: Site
    private let lock: FileLock
    /// Of all that comes from the other host.
    private let meter = ThroughputMeter()
    /// Packs that are there, by their content keys: their pieces may be those of other versions.
    private var present: [ContentKeyID: [PackFile]] = [:]
    private(set) var fetchedBytes: UInt64 = 0
    private var work = WholeWork<String>([], steps: [.checking, .fetching])

    /// - Parameter folder: an existing one.
    init(in folder: FilePath, from source: Site) throws(VaultError) {
        // Nobody else may open the lock file: who can read the folder could else lock it, too.
        let partials = Self.partials(in: folder)
        try FileSystem.createFolders(partials, permissions: 0o700)
        guard let lock = try FileLock.tryAcquire(partials.appending("lock"), .exclusive) else {
            throw VaultError(
                .busy, "another process copies or repairs this site", at: folder.string,
                remedy: "try again when it is done")
        }
        self.folder = folder
        self.source = source
        self.lock = lock
    }

    static func path(of target: TargetRecord, in folder: FilePath) throws(VaultError) -> FilePath {
        let location = try Site(SiteLocation(path: folder), transport: FileTransport()).location(
            ofTarget: target.hostedPath)
        return location.path ?? folder
    }

    /// What has arrived of files. The folder is there while work is unfinished.
    static func partials(in folder: FilePath) -> FilePath { folder.appending(".assetvault-partial") }

    private func copy(of target: TargetRecord) throws(VaultError) -> FileCopy {
        FileCopy(
            target: target, location: try source.location(ofTarget: target.hostedPath),
            transport: source.transport, meter: meter, path: try Self.path(of: target, in: folder),
            partial: Self.partials(in: folder).appending("\(target.hashes.sha256?.hex ?? "file").part"))
    }

    /// Notes packs whose pieces may be used again; those that are not there are left out.
    mutating func note(_ packs: [ListedPack]) {
        for listed in packs {
            guard let path = try? Self.path(of: listed.target, in: folder),
                let file = try? PackFile(opening: path, as: listed.pack)
            else { continue }
            present[listed.pack.contentKeyID, default: []].append(file)
        }
    }

    /// Notes what is to be completed, for the progress.
    mutating func plan(_ targets: [TargetRecord]) {
        work = WholeWork(targets.map { ($0.hostedPath, $0.length) }, steps: [.checking, .fetching])
    }

    /// Fetches a file that is missing or damaged. False for one that is sound, which is not touched.
    mutating func complete(
        _ target: TargetRecord, _ observe: (WorkProgress) -> Void
    ) async throws(VaultError) -> Bool {
        let pack = try? ListedPack(target).pack
        let others = pack.flatMap { present[$0.contentKeyID] } ?? []
        var work = work
        defer { self.work = work }
        let copy = try copy(of: target)
        let fetched = try await copy.complete(reusing: others) {
            observe(work.adding($0, of: target.hostedPath))
        }
        guard let fetched else { return false }
        fetchedBytes += fetched
        return true
    }

    /// Ends the work, also of earlier runs that were interrupted.
    consuming func finish() throws(VaultError) { try FileSystem.removeTree(Self.partials(in: folder)) }

    /// What has arrived stays for the next run.
    deinit {
        let partials = Self.partials(in: folder)
        guard (try? Folder(opening: partials).names().count) == 1 else { return }
        try? FileSystem.removeTree(partials)
    }
}
