public import SealedPack
import UpdateFramework
public import VaultBase

/// The downloader's role: downloads packs to shared storage, where the app finds them. It has no key and no state but
/// the store, and may be killed and started again at any time.
public struct PackDownloader: Sendable {
    let configuration: VaultConfiguration
    private let store: StoreAccess
    private let network: NetworkGate
    let site: LiveSite

    /// The key provider of the configuration is not used. Throws `.usage` for a configuration that can't work.
    public init(_ configuration: VaultConfiguration) throws(VaultError) {
        try configuration.validate()
        self.configuration = configuration
        store = StoreAccess(
            layout: configuration.store, role: .downloader, patience: configuration.patience)
        let use = configuration.network
        network = NetworkGate(configuration.effectiveTransport, in: store) { use }
        site = LiveSite(configuration, in: store, over: network)
    }

    /// Downloads what the request allows, until the budget is used up.
    ///
    /// - Parameters:
    ///   - onUpdate: called with each update, from any task.
    /// - Returns: the outcome of each pack. Failures are recorded; packs without enough time resume in the next run.
    /// - Throws: errors of the metadata, which concern no single pack; `.busy` if the time is up before the metadata are read; `.usage`
    ///   for less than ``DownloaderBudget/leastMemory``.
    public func run(
        _ request: ContentRequest, within budget: DownloaderBudget = DownloaderBudget(),
        onUpdate: @escaping @Sendable (StatusUpdate) -> Void = { _ in }
    ) async throws(VaultError) -> DownloaderReport {
        let names = VaultStore(configuration.store)
        try budget.validate()
        let width = budget.packsAtOnce(upTo: configuration.packsAtOnce)
        let report = try await withTimeLimit(budget.time, at: "downloader") { () throws(VaultError) in
            try await download(request, width: width) { onUpdate(names.shown($0)) }
        }
        if Task.isCancelled { throw VaultError.cancelled("downloader") }
        return report.named(as: names)
    }

    private func download(
        _ request: ContentRequest, width: Int, observer: @escaping Observer
    ) async throws(VaultError) -> DownloaderReport {
        try await store.recovery.recover()
        let view = try await site.refresh()
        var store = store
        store.names = view.storedNames
        let selected = try await view.select(.all)
        let stored = try await store.inventory.storedPacks(
            for: selected.offers, as: nil, listedBy: view.version)
        var input = PlanInput(selected, on: .downloader(request), with: stored, configuration)
        input.metadataBytes = try store.metadata.downloadedBytes(of: view.chain)
        let plan = Plan(input)
        let allowance = TransferAllowance(configuration.policy.meteredAllowance)
        let stager = PackStager(
            store: store, network: network.limited(to: allowance), retries: configuration.retries,
            observer: observer)
        let run = StagingRun(
            stager: stager, batch: WorkQueue(width: width, network: configuration.network).makeBatch())
        var outcomes = try await run.run(plan, selected.offers, on: .downloader(request))
        try await retryEssentials(of: plan, updating: &outcomes, offers: selected.offers, in: run)
        do throws(VaultError) { try await store.removal.removeUnneededDownloads() } catch {
            guard Task.isCancelled else { throw error }
        }
        return DownloaderReport(
            outcomes, refusals: selected.refusals + plan.refusals.map(\.error),
            contestedVersion: view.contestedVersion,
            unstatedTraits: view.choice.device == nil ? selected.decidingTraits : [])
    }

    /// Essential packs that failed are tried again after all others.
    private func retryEssentials(
        of plan: Plan, updating outcomes: inout [StagingRun.Outcome], offers: [LocatedPack],
        in run: StagingRun
    ) async throws(VaultError) {
        let essential = Set(plan.downloads.filter(\.isEssential).map(\.pack.id))
        let failed = outcomes.filter { outcome in
            guard case .failure(let error) = outcome.result, essential.contains(outcome.id) else {
                return false
            }
            return error.isHostFailure || error.category == .corrupt
        }
        guard !failed.isEmpty, !Task.isCancelled else { return }
        let again = Set(failed.map(\.id))
        let tasks = offers.filter { again.contains($0.pack.id) }.map {
            StagingTask(id: $0.pack.id, offer: $0)
        }
        outcomes.removeAll { again.contains($0.id) }
        outcomes += try await run.run(tasks)
    }
}

/// Limits of a downloader's run.
public struct DownloaderBudget: Sendable {
    /// How long it may run; nil for no limit. Partial downloads stay for the next run.
    public var time: Duration?
    /// Bytes of memory that the process may take, ``leastMemory`` or more; nil sets no limit. It decides how many packs are
    /// downloaded at a time.
    public var memory: UInt64?

    public init(time: Duration? = nil, memory: UInt64? = nil) {
        self.time = time
        self.memory = memory
    }

    /// Of the process without any pack, nearly all of it code.
    private static let baseMemory: UInt64 = 31 << 20
    private static let memoryPerPack: UInt64 = 1 << 20
    /// What a run takes that downloads one pack at a time, in bytes: 32 MiB.
    public static let leastMemory = baseMemory + memoryPerPack

    /// Throws `.usage` for less memory than a run takes.
    package func validate() throws(VaultError) {
        guard let memory, memory < Self.leastMemory else { return }
        throw VaultError(
            .usage, "a downloader takes \(Self.leastMemory) bytes of memory, and \(memory) are allowed",
            at: "memory", remedy: "allow \(Self.leastMemory >> 20) MiB or more")
    }

    func packsAtOnce(upTo limit: Int) -> Int {
        guard let memory else { return limit }
        let count = (max(memory, Self.leastMemory) - Self.baseMemory) / Self.memoryPerPack
        return min(limit, Int(clamping: count))
    }
}

/// The result of a downloader's run.
public struct DownloaderReport: Sendable {
    /// In the order in which they were planned, then those that were tried again. Packs without enough time have failed with `.busy`.
    public private(set) var packs: [(id: PackID, result: Result<PackState, VaultError>)]
    /// Downloads that the limits forbid, and roles of the site that failed verification.
    public private(set) var refusals: [VaultError]
    /// The metadata version that was published twice; see ``VaultClient/contestedVersion``.
    public let contestedVersion: Int64?
    /// The traits by which variants were left out though no device was ever named; see ``VaultClient/unstatedTraits``.
    public let unstatedTraits: [String]
    /// Number of packs that ran out of time.
    private let unfinished: Int

    /// - Parameter outcomes: cancelled ones ran out of time.
    init(
        _ outcomes: [StagingRun.Outcome], refusals: [VaultError], contestedVersion: Int64?,
        unstatedTraits: [String]
    ) {
        self.refusals = refusals
        self.unstatedTraits = unstatedTraits
        self.contestedVersion = contestedVersion
        var unfinished = 0
        packs = outcomes.map { outcome in
            guard case .failure(let error) = outcome.result, error.isCancellation else {
                return (outcome.id, outcome.result)
            }
            unfinished += 1
            return (outcome.id, .failure(.timeIsUp(at: error.place)))
        }
        self.unfinished = unfinished
    }

    /// The same with the names that the store knows.
    func named(as store: VaultStore) -> Self {
        var report = self
        report.packs = packs.map { (store.shownID(of: $0.id), $0.result.mapError { store.shown($0) }) }
        report.refusals = refusals.map { store.shown($0) }
        return report
    }

    /// The error that the time was up, else the first failure; nil when all requested packs are here.
    public var firstError: VaultError? {
        if unfinished > 0 {
            return .timeIsUp(": \(unfinished) of \(packs.count) packs are left", at: "downloader")
        }
        for pack in packs {
            if case .failure(let error) = pack.result { return error }
        }
        return refusals.first
    }
}
