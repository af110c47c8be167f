public import SealedPack
import Synchronization
public import UpdateFramework
public import VaultBase
import VaultCrypto
public import VaultSite

/// The app's role: fetches the packs of a site, verifies them, opens them with injected keys and keeps them ready for use.
///
/// A client trusts only its root file: it verifies the metadata, and the metadata every length and digest. Any number of
/// clients and downloaders, in any number of processes, may use one store; each may be killed at any moment, and none repeats
/// the work of another. A task that is cancelled leaves its partial download for the next one.
public actor VaultClient {
    private nonisolated let settings: Mutex<VaultConfiguration>
    /// The packs that were fetched, for reading.
    public nonisolated let store: VaultStore
    let storeAccess: StoreAccess
    let networkGate: NetworkGate
    let work: WorkQueue
    /// What its requests had in access.
    let requested: RequestedPacks
    private let openings = AsyncSemaphore(1)
    private let broadcast = StatusBroadcast()
    /// The packs that the site listed when it was asked last.
    var view: SiteView?
    /// Listed packs that this release can't read, as found by the last selection that named no packs.
    public internal(set) var skippedPacks: [SkippedPack] = []
    /// The traits by which the last selection that named no packs left variants out, although no device was ever named
    /// (``VaultConfiguration/device``): the client took the variants for a device that states none of these traits.
    public internal(set) var unstatedTraits: [String] = []
    /// The channels that list packs, if the last fetch found none in the followed channel.
    public internal(set) var channelsWithPacks: [Channel] = []

    /// Nothing is read or written yet. Throws `.usage` for a configuration that can't work.
    public init(_ configuration: VaultConfiguration) throws(VaultError) {
        try configuration.validate()
        settings = Mutex(configuration)
        let work = WorkQueue(width: configuration.packsAtOnce, network: configuration.network)
        self.work = work
        requested = RequestedPacks(in: configuration.store)
        storeAccess = StoreAccess(layout: configuration.store, role: .app, patience: configuration.patience)
        networkGate = NetworkGate(configuration.effectiveTransport, in: storeAccess) { work.network }
        store = VaultStore(
            configuration.store, keys: configuration.keys, trustedRoot: configuration.trustedRoot,
            channel: configuration.channel, appVersion: configuration.appVersion,
            device: configuration.device)
        store.reads = configuration.reads
    }

    /// The channel, the app version, the device, the form and the limits may change at any time, for what begins afterwards.
    nonisolated var configuration: VaultConfiguration {
        get { settings.withLock { $0 } }
        set {
            settings.withLock { $0 = newValue }
            work.network = newValue.network
            store.choice = newValue.listingChoice
            store.reads = newValue.reads
        }
    }

    nonisolated var site: LiveSite { LiveSite(configuration, in: storeAccess, over: networkGate) }

    /// Bytes that this client received from hosts so far, metadata included, without the headers of HTTP. ``VaultStore/traffic()``
    /// has those of all processes and earlier days.
    public nonisolated var receivedBytes: UInt64 { networkGate.receivedBytes }

    /// Updates of all packs, from now on.
    public nonisolated var statusUpdates: StatusUpdates { StatusUpdates(broadcast, of: nil) }

    /// Updates of one pack, from now on.
    public nonisolated func statusUpdates(for id: PackID) -> StatusUpdates {
        StatusUpdates(broadcast, of: store.shownID(of: id))
    }

    /// Ends all sequences of updates, after what was reported so far. They end by themselves with the client.
    public nonisolated func endStatusUpdates() { broadcast.end() }

    /// The metadata version that the site published twice, with different contents, as the last ``refresh()`` found: this
    /// client keeps the content that it verified first, until the site publishes a higher version. Nil where there is none.
    public var contestedVersion: Int64? { view?.contestedVersion }

    /// Updates the trusted metadata. The store goes on with the channel, the app version and the device of the configuration. Throws
    /// `.untrusted` for metadata that fail verification, `.unavailable`.
    @discardableResult
    public func refresh() async throws(VaultError) -> TrustChain {
        let view = try await updateListing()
        try await follow(view)
        return view.chain
    }

    /// The store follows a view from now on: its choice of channel, app version and device, and its names.
    func follow(_ view: SiteView) async throws(VaultError) {
        try StoredClientChoice(of: storeAccess).record(view.choice)
        try view.keepNames(in: storeAccess)
        store.viewedNames.withLock { $0 = nil }
    }

    /// The same without a record of what was asked for, and of its names: that follows once it is used, and only if it works.
    ///
    /// - Parameter allowance: of the whole call; nil where nothing follows in it.
    @discardableResult
    func updateListing(within allowance: TransferAllowance? = nil) async throws(VaultError) -> SiteView {
        let space = DiskSpace(
            store: storeAccess, reserve: configuration.policy.lowWaterMark, observer: observer)
        let site = site
        var view = try await space.making { () throws(VaultError) in try await site.refresh() }
        try await openNames(of: &view, within: allowance ?? newAllowance)
        store.viewedNames.withLock { $0 = view.storedNames }
        self.view = view
        return view
    }

    /// Starts up: refreshes the trusted metadata, opens what waits, and downloads what is missing. A pack that fails leaves the others
    /// and its own earlier version as they were; the first error is thrown when all were tried.
    ///
    /// A pack whose key is missing is not a failure: it waits for its key, as the report and ``StatusUpdate/awaitingKey(_:_:)`` say
    /// (``PlanningPolicy/preloadsLockedPacks``: whether it is downloaded before). An app that can do nothing without it calls
    /// ``FetchReport/requireKeys()``. A run asks ``VaultConfiguration/keys`` for no more than 256 key IDs, each once, and only for
    /// packs that it downloads or opens; IDs that the provider lists do not count. Packs of teams do not use up what the site's own
    /// need.
    ///
    /// Nothing is downloaded where a tag of the selection is unknown: `.unknownTag` is thrown.
    ///
    /// - Parameters:
    ///   - priority: when it is wanted among the requests and other fetches of the client; nil is ``LoadingPriority/whenIdle`` for
    ///     packs that were not requested (``PackSelection/automatic``), else ``LoadingPriority/standard``.
    ///   - time: how long it may take; then `.busy` is thrown, and the next call resumes.
    public func fetch(
        _ selection: PackSelection = .automatic, priority: LoadingPriority? = nil,
        within time: Duration? = nil
    ) async throws(VaultError) -> FetchReport {
        let report = try await update(
            selection, priority: priority, within: time, reportingTo: LoadingTracker())
        if let failure = report.failed.first { throw failure }
        return report
    }

    /// The same, where packs that fail are in the report, and only what concerns no single pack is thrown.
    ///
    /// - Parameter downloads: shows how far it is.
    func update(
        _ selection: PackSelection, priority: LoadingPriority?, within time: Duration?,
        reportingTo downloads: LoadingTracker
    ) async throws(VaultError) -> FetchReport {
        let batch = work.makeBatch(priority ?? selection.priority)
        return try await store.naming { () throws(VaultError) in
            try await withTimeLimit(time, at: "fetch") { () throws(VaultError) in
                try await self.start(selection, in: batch, reportingTo: downloads)
            }
        }
    }

    private func start(
        _ selection: PackSelection, in batch: WorkQueue.Batch, reportingTo downloads: LoadingTracker
    ) async throws(VaultError) -> FetchReport {
        try await storeAccess.recovery.recover()
        let allowance = newAllowance
        let view: SiteView
        do throws(VaultError) { view = try await updateListing(within: allowance) } catch {
            if !Task.isCancelled { await openWhatWaits(of: selection) }
            throw error
        }
        let selected = try await select(selection, in: view)
        var report = try await stage(
            selected, listedBy: view, in: batch, within: allowance, reportingTo: downloads)
        // What was stopped, or whose time is up, failed as a whole.
        if Task.isCancelled, let stop = report.failed.first(where: { $0.category == .cancelled }) {
            throw stop
        }
        if report.failed.isEmpty { try await storeAccess.removal.removeUnneededDownloads() }
        // A missing key is not a failure.
        if let failure = view.missingNames, failure.category != .key { report.failed.append(failure) }
        return report.named(as: store)
    }

    /// Without the site, packs that were downloaded before still open: that needs only their keys. Failures are reported by
    /// updates.
    private func openWhatWaits(of selection: PackSelection) async {
        guard configuration.keys != nil, (try? site.trust.pinDigest()) != nil else { return }
        let named: [PackID]? = if case .only(let ids) = selection { ids } else { nil }
        _ = try? await unlock(named)
    }

    /// The packs of a selection; what the app may want to know of it is kept. Throws `.unknownTag`.
    func select(_ selection: PackSelection, in view: SiteView) async throws(VaultError) -> SelectedPacks {
        let selected = try await view.select(selection)
        try await note(selected, in: view)
        try selected.requireKnownTags()
        return selected
    }

    /// Keeps what the app may want to know of a selection.
    func note(_ selected: SelectedPacks, in view: SiteView) async throws(VaultError) {
        skippedPacks = selected.skipped
        unstatedTraits = view.choice.device == nil ? selected.decidingTraits : []
        channelsWithPacks = selected.listsNothing ? try await view.otherChannelsWithPacks() : []
    }

    /// Stages what is missing of selected packs.
    ///
    /// - Parameters:
    ///   - batch: decides when each of them is worked on.
    ///   - allowance: of the whole call.
    ///   - needsAll: whether nothing is downloaded where one of them is refused: the others would be of no use.
    ///   - downloads: shows how far it is.
    func stage(
        _ selected: SelectedPacks, listedBy view: SiteView, in batch: WorkQueue.Batch,
        within allowance: TransferAllowance, needsAll: Bool = false, reportingTo downloads: LoadingTracker
    ) async throws(VaultError) -> FetchReport {
        let updates = statusUpdates
        async let reporting: Void = {
            for await update in updates { downloads.note(update) }
        }()
        let result = await outcome { () throws(VaultError) in
            try await self.stageReported(
                selected, listedBy: view, in: batch, within: allowance, needsAll: needsAll,
                reportingTo: downloads)
        }
        updates.end()
        await reporting
        return try result.get()
    }

    private func stageReported(
        _ selected: SelectedPacks, listedBy view: SiteView, in batch: WorkQueue.Batch,
        within allowance: TransferAllowance, needsAll: Bool, reportingTo downloads: LoadingTracker
    ) async throws(VaultError) -> FetchReport {
        try await follow(view)
        let selected = try await completed(selected, by: view)
        let trigger = PlanTrigger.app(selected.selection)
        // Once for each listing: all records are looked at.
        if !view.isWhole(in: storeAccess) { try? await storeAccess.removal.removeWithdrawn(by: view) }
        try await store.continueDecisions(on: selected.offers.map(\.pack.id))
        var stored = try await storeAccess.inventory.storedPacks(
            for: selected.offers, as: wantedForm, listedBy: view.version)
        // The table of names was brought with the view, or could not be.
        if view.hasOpaqueNames == true { stored.removeAll { $0.id.description == PackNames.packID } }
        let keys = keysOfRun(for: selected.offers)
        let stager = stager(with: keys, within: allowance)
        let input = await planInput(for: selected, on: trigger, with: stored, using: keys)
        let missingKeys = input.missingKeys
        let plan = try await stager.affordablePlan(of: input, for: selected.offers)
        if needsAll, let refusal = plan.refusals.first { throw refusal.error }
        downloads.plan((plan.transfers.map(\.pack) + plan.downloads.map(\.pack)).map(store.shown))
        let refreshed = Set(plan.refreshed.map(\.id))
        for id in plan.kept where !refreshed.contains(id) { observer(.finished(id, .loaded)) }
        reportLocked(of: plan, missingKeys)
        let run = run(of: plan, for: selected, by: stager, in: batch)
        let outcomes = try await run.run(plan, selected.offers, on: trigger)
        // A file that can't be removed costs disk space, and nothing else.
        try? await storeAccess.removal.removeSuperseded(by: selected.offers)
        try? await store.removeSuperseded(by: selected.offers.map(\.pack.id))
        if let variants = selected.variants {
            try? await storeAccess.journal.recordReplacedVariants(variants, among: selected.candidateIDs)
        }
        let report = report(of: plan, missingKeys, outcomes, among: selected)
        let awaitingKey = Set(report.awaitingKey.map(\.id))
        await view.noteReadable(in: storeAccess, unlessBehind: plan.changing, awaitingKey: awaitingKey)
        return report
    }

    /// Reports the packs that are not downloaded because their key is missing.
    func reportLocked(of plan: Plan, _ missingKeys: [PackID: VaultError]) {
        for pack in plan.locked {
            if let error = missingKeys[pack.id] { observer(.awaitingKey(pack.id, error)) }
            let isLoaded = (try? store.path(of: pack.id)) != nil
            observer(.finished(pack.id, isLoaded ? .loaded : .absent))
        }
    }

    /// A run that removes none of its packs for the others.
    func run(
        of plan: Plan, for selected: SelectedPacks, by stager: PackStager, in batch: WorkQueue.Batch
    ) -> StagingRun {
        var stager = stager
        if PlanTrigger.app(selected.selection).isRequest {
            stager.space.spared = Set(selected.offers.map(\.pack.id))
        }
        stager.sets = PackSets(plan.sets)
        for set in plan.sets { stager.space.spared.formUnion((set.packs + set.missing).map(\.id)) }
        return StagingRun(stager: stager, batch: batch)
    }

    /// A selection of some packs, with the packs here that share a tag with an update: a tag is never updated in part.
    func completed(
        _ selected: SelectedPacks, by view: SiteView
    ) async throws(VaultError) -> SelectedPacks {
        guard case .only = selected.selection else { return selected }
        return selected.adding(
            try await view.updates(belongingTo: selected.offers.map(\.pack), in: storeAccess.records))
    }

    /// - Parameter keys: of the run.
    func planInput(
        for selected: SelectedPacks, on trigger: PlanTrigger, with stored: [StoredPack],
        using keys: (any KeyProvider)?
    ) async -> PlanInput {
        var input = PlanInput(selected, on: trigger, with: stored, configuration)
        input.network = work.network
        await input.findMissingKeys(with: keys)
        return input
    }

    private func report(
        of plan: Plan, _ missingKeys: [PackID: VaultError], _ outcomes: [StagingRun.Outcome],
        among selected: SelectedPacks
    ) -> FetchReport {
        let offers = selected.offers.byID
        var report = FetchReport()
        report.failed = selected.refusals
        report.deferred = plan.deferred.map(\.id)
        report.awaitingKey = plan.locked.compactMap { pack in
            missingKeys[pack.id].map { PackAwaitingKey(pack, isDownloaded: false, $0) }
        }
        for outcome in outcomes {
            switch outcome.result {
            case .failure(let error): report.failed.append(error)
            case .success where outcome.isDeferred: report.deferred.append(outcome.id)
            case .success where outcome.awaitedPack != nil: report.awaitingSet.append(outcome.id)
            case .success(let state):
                if let pack = offers[outcome.id]?.pack,
                    state == .toBeTransferred || outcome.missingKey != nil
                {
                    report.awaitingKey.append(
                        PackAwaitingKey(
                            pack, isDownloaded: state == .toBeTransferred,
                            outcome.missingKey ?? missingKeys[pack.id]))
                } else if state == .loaded {
                    report.loaded.append(outcome.id)
                }
            }
        }
        report.failed += plan.refusals.map(\.error)
        return report
    }

    /// The form of packs in permanent storage; nil where any form will do.
    var wantedForm: PackForm? { configuration.keys == nil ? nil : configuration.form }

    /// The client's keys, asked for once in a run, which may run a command for each: packs whose key is not asked for wait.
    func keysOfRun(for offers: [LocatedPack]) -> (any KeyProvider)? {
        configuration.keys.map { CachingKeyProvider($0, reservingFor: offers.ownKeyIDs) }
    }

    /// The metered allowance of one call, counted anew.
    var newAllowance: TransferAllowance { TransferAllowance(configuration.policy.meteredAllowance) }

    /// A stager in the app's role, for one call.
    func stager(with keys: (any KeyProvider)?, within allowance: TransferAllowance) -> PackStager {
        let network = networkGate.limited(to: allowance)
        var stager = PackStager(
            store: storeAccess, network: network, retries: configuration.retries,
            keys: keys, form: configuration.form, openings: openings, observer: observer)
        stager.space.reserve = configuration.policy.lowWaterMark
        return stager
    }

    /// Sends updates to their readers, by the names of the packs.
    var observer: Observer { { [broadcast, store] in broadcast.send(store.shown($0)) } }
}
