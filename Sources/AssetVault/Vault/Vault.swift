public import SealedPack
public import SystemPackage
public import VaultBase
public import VaultCrypto
public import VaultSite

/// The packs of a site on this device: updated, verified, opened with injected keys, and kept ready for use.
///
/// ```swift
/// let vault = try Vault(
///     site: "https://cdn.example.com/game", trustedRoot: root, store: "store", keys: .environment("GAME_KEY"))
/// vault.settings.device = ["scale": 2, "language": "de-AT"]
/// let report = try await vault.update { bar.fraction = $0.fraction }
/// let map = try await vault["levels/one"].bytes("map.json")
/// ```
///
/// A vault trusts only the root file that it is given: it verifies the metadata by this root, and every length and digest by the
/// metadata. Loaded packs are read without the network. Any number of vaults, in any number of processes, may use one store; each
/// may be killed at any moment. Keep one object: it remembers the sealed packs that it opened.
public final class Vault: Sendable {
    private let source: Source

    /// Where the packs come from.
    enum Source: Sendable {
        case site(VaultClient)
        case folder(SourceFolders)

        /// In which requests take their turns.
        var work: WorkQueue {
            switch self {
            case .site(let client): client.work
            case .folder: WorkQueue(width: 1)
            }
        }
    }

    /// Nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - site: a URL (`https`, `http`, `file`) or a path.
    ///   - mirrors: other hosts of the same site, asked when the first one fails.
    ///   - trustedRoot: the bytes of the site's `trusted-root.json`, which came with the app; nil where the store has one already.
    ///   - store: the folder in which packs are kept; three areas of their own take a ``VaultConfiguration``.
    ///   - keys: opens packs; see ``init(site:mirrors:trustedRoot:store:settings:)`` for a vault without keys.
    /// - Throws: `.usage` for what can't work.
    public convenience init(
        site: String, mirrors: [String] = [], trustedRoot: [UInt8]? = nil, store: FilePath,
        keys: some KeyProvider, settings: VaultSettings = VaultSettings()
    ) throws(VaultError) {
        var configuration = try VaultConfiguration(site, mirrors, trustedRoot, store, settings)
        configuration.keys = keys
        try self.init(configuration)
    }

    /// The same without keys: packs are downloaded and verified, and wait until a key is there (``unlock(with:)``).
    public convenience init(
        site: String, mirrors: [String] = [], trustedRoot: [UInt8]? = nil, store: FilePath,
        settings: VaultSettings = VaultSettings()
    ) throws(VaultError) {
        try self.init(VaultConfiguration(site, mirrors, trustedRoot, store, settings))
    }

    /// With all that can be configured, such as a transport of the app's own.
    public init(_ configuration: VaultConfiguration) throws(VaultError) {
        source = .site(try VaultClient(configuration))
    }

    /// For development: plain source folders through the same calls, before anything is published. Each folder below is a pack by its
    /// path, all files are in access under every tag, and nothing is ever missing, sealed or updated.
    public init(folder: FilePath) {
        source = .folder(SourceFolders(root: folder))
    }

    /// What the app may change while it runs; it counts for what begins afterwards.
    public var settings: VaultSettings {
        get {
            switch source {
            case .site(let client): VaultSettings(of: client.configuration)
            case .folder: VaultSettings()
            }
        }
        set {
            if case .site(let client) = source { newValue.apply(to: &client.configuration) }
        }
    }

    // MARK: Updates

    /// Updates what is loaded, and loads what the site lists as essential or prefetched, or another selection. A pack that fails leaves the
    /// others, and its own earlier version, as they were.
    ///
    /// - Parameters:
    ///   - priority: when it is wanted among the requests and other updates; nil is ``LoadingPriority/whenIdle`` for packs that
    ///     were not requested.
    ///   - time: how long it may take; the next call resumes.
    ///   - onProgress: called with the progress, from any task; the last value is 1 if nothing failed.
    /// - Returns: what was loaded, waits for a key, was left for another network, and failed.
    /// - Throws: what concerns no single pack: the site can't be reached (`.unreachable`), fails (`.unavailable`), or its metadata fail
    ///   verification (`.untrusted`); `.unknownTag`; `.busy` where the time is up. What is loaded can be read all the same.
    @discardableResult
    public func update(
        _ selection: PackSelection = .automatic, priority: LoadingPriority? = nil,
        within time: Duration? = nil,
        onProgress: @escaping @Sendable (LoadingProgress) -> Void = { _ in }
    ) async throws(VaultError) -> FetchReport {
        guard case .site(let client) = source else { return FetchReport() }
        let tracker = LoadingTracker()
        tracker.begin()
        let updates = LoadingProgressUpdates(tracker)
        async let shown: Void = {
            for await progress in updates { onProgress(progress) }
        }()
        let result = await outcome { () throws(VaultError) in
            try await client.update(selection, priority: priority, within: time, reportingTo: tracker)
        }
        if case .success(let report) = result, report.failed.isEmpty {
            tracker.succeed()
        } else {
            tracker.close()
        }
        await shown
        if Task.isCancelled { throw VaultError.cancelled("update") }
        return try result.get()
    }

    /// What ``update(_:priority:within:onProgress:)`` would download now.
    @discardableResult
    public func costs(of selection: PackSelection = .automatic) async throws(VaultError) -> [DownloadCost] {
        guard case .site(let client) = source else { return [] }
        return try await client.costs(of: selection)
    }

    /// Updates of packs, from now on, for all requests.
    public var events: StatusUpdates? {
        guard case .site(let client) = source else { return nil }
        return client.statusUpdates
    }

    // MARK: Packs

    /// One pack, whether it is loaded or not. Throws `.usage` for a text that is not a pack ID.
    public subscript(id: String) -> VaultPack {
        get throws(VaultError) { VaultPack(id: try PackID(id), of: source) }
    }

    public subscript(id: PackID) -> VaultPack { VaultPack(id: id, of: source) }

    /// The status of all packs that the site listed when it was last asked, or that are here.
    public var packs: [PackStatus] {
        get async throws(VaultError) {
            guard case .site(let client) = source else { return [] }
            return try await client.store.status()
        }
    }

    /// Opens packs that wait for their key, without any network.
    ///
    /// - Parameter keys: pushed just now; nil asks the vault's own provider again.
    /// - Returns: what is loaded by that.
    /// - Throws: `.key` where a key is still missing, after all were tried.
    @discardableResult
    public func unlock(with keys: (any KeyProvider)? = nil) async throws(VaultError) -> [PackID] {
        guard case .site(let client) = source else { return [] }
        return try await client.unlock(with: keys)
    }

    /// Removes purgeable packs until so many bytes are free, those with the lowest priority first; nil removes all of them.
    @discardableResult
    public func purge(until free: UInt64? = nil) async throws(VaultError) -> [PurgeablePack] {
        guard case .site(let client) = source else { return [] }
        return try await client.store.purge(until: free)
    }

    // MARK: Resources by tag

    /// A request for the packs of some tags; nothing is read or downloaded before it begins.
    public func request(_ tags: Set<String>) -> ResourceRequest { ResourceRequest(tags: tags, of: source) }

    /// Runs `body` while the packs of some tags are in access: what is missing is downloaded before, and none of them is removed
    /// meanwhile. Throws as ``ResourceRequest/beginAccessing()`` does, and what `body` throws.
    nonisolated(nonsending) public func withAccess<Result>(
        to tags: Set<String>, priority: LoadingPriority = .standard,
        _ body: nonisolated(nonsending) (ResourceRequest) async throws -> Result
    ) async throws -> Result {
        let request = request(tags)
        request.loadingPriority = priority
        try await request.beginAccessing()
        defer { request.endAccessing() }
        return try await body(request)
    }
}

/// What an app may change while it runs.
public struct VaultSettings: Sendable {
    /// See ``VaultConfiguration/channel``.
    public var channel: Channel?
    /// See ``VaultConfiguration/appVersion``.
    public var appVersion: AppVersion?
    /// See ``VaultConfiguration/device``.
    public var device: DeviceTraits?
    /// See ``VaultConfiguration/form``.
    public var form: PackForm?
    /// What may be used of the network. Downloads that are no longer allowed end, and their parts stay for the next attempt.
    public var network = NetworkPolicy.unrestricted
    /// How much may be downloaded and installed.
    public var limits = PlanningPolicy()
    /// See ``VaultConfiguration/reads``.
    public var reads: ReadRecord?

    public init() {}

    init(of configuration: VaultConfiguration) {
        (channel, appVersion) = (configuration.channel, configuration.appVersion)
        (device, form) = (configuration.device, configuration.form)
        (network, limits, reads) = (configuration.network, configuration.policy, configuration.reads)
    }

    func apply(to configuration: inout VaultConfiguration) {
        (configuration.channel, configuration.appVersion) = (channel, appVersion)
        (configuration.device, configuration.form) = (device, form)
        (configuration.network, configuration.policy, configuration.reads) = (network, limits, reads)
    }
}

extension VaultConfiguration {
    fileprivate init(
        _ site: String, _ mirrors: [String], _ trustedRoot: [UInt8]?, _ store: FilePath,
        _ settings: VaultSettings
    ) throws(VaultError) {
        self.init(site: try SiteLocation(site), store: StoreLayout(root: store), trustedRoot: trustedRoot)
        for mirror in mirrors { self.mirrors.append(try SiteLocation(mirror)) }
        settings.apply(to: &self)
    }
}
