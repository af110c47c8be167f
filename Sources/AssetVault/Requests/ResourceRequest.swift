public import SealedPack
import Synchronization
public import VaultBase

#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.URL
#else
    public import struct Foundation.URL
#endif

/// Access to the packs of some tags: they are downloaded as far as they are missing, and none of them is removed while any request
/// of any process has it in access.
///
/// ```swift
/// let request = ResourceRequest(tags: ["level2"], of: client)
/// try await request.beginAccessing()
/// let map = try await request.contents(of: EntryPath("map.json"))
/// request.endAccessing()
/// ```
///
/// The access also ends with the object, and with the process.
public final class ResourceRequest: Sendable {
    public let tags: Set<String>
    private let source: Vault.Source
    private let batch: WorkQueue.Batch
    private let phase = Mutex(Phase.idle)
    let downloads = LoadingTracker()

    private enum Phase {
        case idle
        case beginning
        case accessing(ResourceAccess)
        case ended
    }

    /// Nothing is read or downloaded yet.
    public convenience init(tags: Set<String>, of client: VaultClient) {
        self.init(tags: tags, of: .site(client))
    }

    init(tags: Set<String>, of source: Vault.Source) {
        (self.tags, self.source) = (tags, source)
        batch = source.work.makeBatch()
    }

    deinit { endAccessing() }

    /// When it is wanted among the other requests of the client; it may be changed at any time. ``LoadingPriority/standard`` at
    /// first.
    public var loadingPriority: LoadingPriority {
        get { batch.priority }
        set { batch.priority = newValue }
    }

    /// Downloads what is missing of the tags, and opens it. Afterwards all of it can be read.
    ///
    /// Where every pack of the tags is loaded, in whatever version, the network is not used.
    ///
    /// - Throws: `.unknownTag` for a tag that no pack of the site has; `.unreachable` without a connection; `.notHosted` for a pack that
    ///   the host does not have; `.unavailable` where it fails; `.diskFull`, with the bytes that are missing; `.accessLimit` where more would be in access than ``PlanningPolicy/accessedSize`` allows; `.key` without the key of a pack; `.usage` where
    ///   the access has begun, or ended. The request can begin again after an error.
    public func beginAccessing() async throws(VaultError) {
        try begin(downloading: true)
        do throws(VaultError) {
            switch source {
            case .site(let client):
                try finish(try await client.access(to: tags, in: batch, reportingTo: downloads))
            case .folder(let folder): try finish(try folder.access())
            }
        } catch {
            reset()
            throw error
        }
    }

    /// Bytes that ``beginAccessing()`` would download now, to be asked before a metered network is used. The metadata are refreshed; throws
    /// what a fetch throws, and `.unknownTag`.
    public func downloadSize() async throws(VaultError) -> UInt64 {
        guard case .site(let client) = source else { return 0 }
        return try await client.costs(of: .tagged(tags)).saturatingSum(\.cost.bytes)
    }

    /// Begins the access if all packs of the tags are loaded; nothing is downloaded. False begins nothing, and needs no end.
    /// Throws as ``beginAccessing()`` does.
    public func conditionallyBeginAccessing() async throws(VaultError) -> Bool {
        try begin(downloading: false)
        do throws(VaultError) {
            let access: ResourceAccess?
            switch source {
            case .site(let client): access = try await client.localAccess(to: tags)
            case .folder(let folder): access = try folder.access()
            }
            guard let access else {
                reset()
                return false
            }
            try finish(access)
            return true
        } catch {
            reset()
            throw error
        }
    }

    /// Ends the access: the packs may be removed when disk space is needed. Work that is under way for this request alone is
    /// cancelled. A request that ended can't begin again.
    public func endAccessing() {
        let packs = leases.map(\.listedID)
        // Before the packs are free.
        if !packs.isEmpty, case .site(let client) = source { client.requested.add(packs) }
        let access = phase.withLock { phase -> ResourceAccess? in
            defer { phase = .ended }
            guard case .accessing(let access) = phase else { return nil }
            return access
        }
        access?.end()
        batch.cancel()
        downloads.close()
    }

    /// Pauses the downloads of this request; those that another request also needs continue.
    public func pause() { batch.pause() }

    public func resume() { batch.resume() }

    /// Cancels a call of ``beginAccessing()`` that is waiting, whatever for; what was downloaded stays for the next one.
    public func cancel() { batch.cancel() }

    /// How far the downloads are.
    public var progress: LoadingProgress { downloads.progress }

    /// How far the downloads are, as that changes, until the access has begun or its downloads failed: of the attempt that is under
    /// way, else of the next one. A conditional begin that is refused downloads nothing, and is not an attempt: the updates
    /// continue, at the latest until the request ends.
    public var progressUpdates: LoadingProgressUpdates { LoadingProgressUpdates(downloads) }

    /// The bytes of a file of the packs in access; see ``HeldPack/bytes(_:)``. Of packs that have the same path the first
    /// one counts, in the order of publication. Throws `.missing` for an unknown file, `.usage` without access.
    public func contents(of path: EntryPath) async throws(VaultError) -> [UInt8] {
        try await access().contents(of: path)
    }

    /// Reads ranges of a file of the packs in access, in little memory.
    public func reader(of path: EntryPath) async throws(VaultError) -> AssetReader {
        try await access().reader(of: path)
    }

    /// The URL of a file of an opened pack, valid until the access ends. Throws `.usage` for a file of a sealed pack.
    public func url(forResource path: EntryPath) async throws(VaultError) -> URL {
        try await access().url(for: path)
    }

    /// The packs in access, in the order of publication; empty without access.
    public var packIDs: [PackID] { leases.map(\.id) }

    private var leases: [PackLease] {
        phase.withLock { phase in
            guard case .accessing(let access) = phase else { return [] }
            return access.leases
        }
    }

    private func access() throws(VaultError) -> ResourceAccess {
        try phase.withLock { phase throws(VaultError) in
            guard case .accessing(let access) = phase else {
                throw misuse("the request has no access", "begin it first")
            }
            return access
        }
    }

    /// - Parameter downloading: whether it is an attempt that may download, whose progress is shown.
    private func begin(downloading: Bool) throws(VaultError) {
        guard !tags.isEmpty else {
            downloads.close()
            throw misuse("the request names no tag", "name one")
        }
        try phase.withLock { phase throws(VaultError) in
            switch phase {
            case .idle:
                phase = .beginning
                batch.begin()
                if downloading { downloads.begin() }
            case .beginning, .accessing:
                throw misuse("its access has begun already", "use another request for another access")
            case .ended: throw misuse("its access has ended", "make a new request")
            }
        }
    }

    private func finish(_ access: ResourceAccess) throws(VaultError) {
        try phase.withLock { phase throws(VaultError) in
            guard case .beginning = phase else {
                throw VaultError(
                    .cancelled, "the access was ended before it began", at: name, remedy: "make a new request"
                )
            }
            phase = .accessing(access)
            downloads.succeed()
        }
    }

    private func reset() {
        phase.withLock { phase in
            guard case .beginning = phase else { return }
            phase = .idle
            downloads.fail()
        }
    }

    private var name: String { tags.sorted().joined(separator: ", ") }

    private func misuse(_ problem: String, _ remedy: String) -> VaultError {
        VaultError(.usage, problem, at: name, remedy: remedy)
    }
}
