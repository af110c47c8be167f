import SealedPack
import VaultBase

/// Carries out a plan: removals, then packs that only need to be transferred, then downloads, several at once. Replaced partial
/// downloads are removed last. A pack that fails leaves all others, and its own earlier version, as they were.
struct StagingRun: Sendable {
    let stager: PackStager
    /// Decides what is worked on, and when.
    let batch: WorkQueue.Batch

    /// The result of staging one pack.
    struct Outcome: Sendable {
        let id: PackID
        let result: Result<PackState, VaultError>
        /// Why it was not opened, where only its key is missing.
        var missingKey: VaultError?
        /// Whether it waits for a network that is not metered.
        var isDeferred = false
        /// Whether it waits for the others of its set.
        var isReady = false
        /// The pack of its set that is missing, so that it does not become live.
        var awaitedPack: PackID?
    }

    /// - Returns: the outcome of every pack that something was done with, in the order of the plan, after those of refused sets.
    func run(_ plan: Plan, _ offers: [LocatedPack], on trigger: PlanTrigger) async throws(VaultError)
        -> [Outcome]
    {
        let offered = offers.byID
        let replaced = replacedDownloads(of: plan)
        for removal in plan.removals where !replaced.contains(removal) {
            do throws(VaultError) { try await remove(removal) } catch {
                // Other packs are staged all the same; the error is reported when this one is staged or removed next.
                if Task.isCancelled { throw error }
            }
        }
        for refusal in plan.refusals { stager.observer(.failed(refusal.pack.id, refusal.error)) }
        for download in plan.downloads {
            stager.observer(
                .planned(download.pack.id, download.pack.offer.policy, total: download.pack.length))
        }
        for pack in plan.deferred { _ = reportDeferred(pack.id) }
        // A downloader leaves waiting packs to the app.
        let transfers = plan.transfers.filter { $0.stage != .waiting || stager.opensPacks }
        let refused = try await refuseSets(of: plan, offered)
        let refusedIDs = Set(refused.map(\.id))
        stager.space.kept.expect(plan.downloads.map(\.pack).filter { !refusedIDs.contains($0.id) })
        // A waiting pack that is not listed needs no offer: its record has its manifest.
        func task(_ id: PackID, _ need: NetworkNeed, _ precedence: DownloadPrecedence) -> StagingTask {
            StagingTask(
                id: id, offer: offered[id], isRequested: trigger.isRequest, need: need,
                precedence: precedence)
        }
        let tasks =
            plan.refreshed.map { task($0.id, .noNetwork, .independent) }
            + transfers.map { task($0.pack.id, .noNetwork, $0.precedence) }
            + plan.downloads.map { task($0.pack.id, $0.networkNeed, $0.precedence) }
        let outcomes = try await run(tasks.filter { !refusedIDs.contains($0.id) })
        for removal in replaced { try? await remove(removal) }
        return refused + outcomes
    }

    /// Partial downloads of versions that are superseded now. The new versions may use their pieces: where the disk has space
    /// for both, they are removed afterwards.
    private func replacedDownloads(of plan: Plan) -> [PlannedRemoval] {
        let bytes = plan.downloads.saturatingSum(\.pack.length)
        guard (try? stager.space.fits(bytes, in: stager.store.layout.ephemeral)) == true else {
            return []
        }
        let ids = Set(plan.downloads.map(\.pack.id))
        return plan.removals.filter { removal in
            guard case .file(let file) = removal else { return false }
            return !file.stage.isOfPack && ids.contains(file.pack.id)
        }
    }

    func run(_ tasks: [StagingTask]) async throws(VaultError) -> [Outcome] {
        guard !tasks.isEmpty else { return [] }
        let workMark = try stager.store.unfinishedWork.begin()
        // As long as this value lives, the mark shows other processes that this one works: until the end of the run.
        defer { withExtendedLifetime(workMark) {} }
        // Clear the removed flag once, before work starts: a removal during the run must win.
        let requested = tasks.filter(\.isRequested).map(\.id)
        let names = requested.isEmpty ? nil : try StoredNames(of: stager.store)
        // Also under its other IDs, by which the site may list it again.
        for id in requested.flatMap({ [$0] + (names?.otherIDs(of: $0) ?? []) }) {
            let isRemoved = (try? stager.store.records.record(of: id).isRemoved) == true
            guard isRemoved else { continue }
            do throws(VaultError) { try await stager.store.record(.requested, of: id) } catch {
                // Staging this one reports that it was removed; the others continue.
                guard error.concernsOnePack else { throw error }
            }
        }
        let outcomes = await outcomes(of: tasks)
        await remove(stager.space.kept.endAll())
        return outcomes
    }

    /// Errors are ignored: a version that stays only takes disk space.
    private func remove(_ superseded: Set<PackID>) async {
        for id in superseded.sorted() { try? await stager.store.recovery.recover(id) }
    }

    private func remove(_ removal: PlannedRemoval) async throws(VaultError) {
        switch removal {
        case .pack(let id):
            // Recovery finishes a removal that was begun.
            try await stager.store.recovery.recover(id)
        case .file(let file) where file.stage.isOfPack:
            // Nothing to do: the newer version removes it when it is staged.
            break
        case .file(let file): try stager.store.removal.discardDownload(of: file.pack)
        }
    }

    private func outcomes(of tasks: [StagingTask]) async -> [Outcome] {
        // Any of them may be cancelled from now on, also before its turn.
        let items = tasks.map { batch.add($0.id, needing: $0.need, $0.precedence) }
        let positions = Dictionary(uniqueKeysWithValues: zip(items, tasks.indices))
        let places = Dictionary(zip(tasks.map(\.id), tasks.indices)) { first, _ in first }
        var found: [Outcome?] = Array(repeating: nil, count: tasks.count)
        await withTaskGroup(of: [Outcome].self) { group in
            while let item = await batch.next() {
                guard let position = positions[item] else { continue }
                group.addTask {
                    guard let outcome = await outcome(of: tasks[position], item) else { return [] }
                    await remove(stager.space.kept.end(outcome.id))
                    return [outcome] + (await endSet(by: outcome))
                }
            }
            for await outcomes in group {
                for outcome in outcomes { if let place = places[outcome.id] { found[place] = outcome } }
            }
        }
        for (position, task) in tasks.enumerated() where found[position] == nil {
            batch.end(items[position])
            let cancelled = reported(.failure(.cancelled(task.id.description)), of: task.id)
            found[position] = cancelled
            for outcome in await endSet(by: cancelled) {
                if let place = places[outcome.id] { found[place] = outcome }
            }
        }
        return found.compactMap(\.self)
    }

    /// Nil where more urgent work interrupted it.
    private func outcome(of task: StagingTask, _ item: Int) async -> Outcome? {
        do throws(VaultError) {
            let result = try await batch.run(item, task.id) { () throws(VaultError) in
                do throws(VaultError) {
                    return (try await stage(task), VaultError?.none)
                } catch {
                    if !task.needsKey, let state = try await stager.stateWithoutKey(task, after: error) {
                        return (state, error)
                    }
                    await stager.recordFailure(error, of: task)
                    throw error
                }
            }
            guard let (state, missingKey) = result else { return nil }
            defer { batch.end(item) }
            if let missingKey { stager.observer(.awaitingKey(task.id, missingKey)) }
            if isReady(task.id, state) {
                return Outcome(id: task.id, result: .success(state), isReady: true)
            }
            // The pack no longer waits: nothing is reported.
            if task.offer == nil, state == .absent { return Outcome(id: task.id, result: .success(state)) }
            var outcome = reported(.success(state), of: task.id)
            outcome.missingKey = missingKey
            return outcome
        } catch {
            defer { batch.end(item) }
            if batch.isDeferred(item), !Task.isCancelled {
                return reportDeferred(task.id)
            }
            var outcome = reported(self.result(of: task.id, endedBy: error), of: task.id)
            if task.needsKey, error.category == .key { outcome.missingKey = error }
            return outcome
        }
    }

    /// If the app removed the pack meanwhile, a downloader reports success.
    private func result(of id: PackID, endedBy error: VaultError) -> Result<PackState, VaultError> {
        if Task.isCancelled { return .failure(.cancelled(id.description)) }
        let isUnwanted = !stager.opensPacks && (try? stager.store.records.record(of: id).isRemoved) == true
        if isUnwanted { return .success(.absent) }
        guard let count = stager.sets.count(with: id), !error.isCancellation else { return .failure(error) }
        return .failure(
            error.with(
                problem:
                    "\(error.problem); until it is here, none of the \(count) packs of its set is updated"))
    }

    func reportDeferred(_ id: PackID) -> Outcome {
        stager.observer(.deferred(id))
        let isLoaded = (try? stager.store.records.record(of: id))?.loaded != nil
        var outcome = reported(.success(isLoaded ? .loaded : .absent), of: id)
        outcome.isDeferred = true
        return outcome
    }

    func reported(_ result: Result<PackState, VaultError>, of id: PackID) -> Outcome {
        switch result {
        case .success(let state): stager.observer(.finished(id, state))
        case .failure(let error): stager.observer(.failed(id, error))
        }
        return Outcome(id: id, result: result)
    }

    /// Other processes stage the same packs: where one of them was faster, the pack is looked for again.
    private func stage(_ task: StagingTask) async throws(VaultError) -> PackState {
        var deadline: ContinuousClock.Instant?
        while true {
            do throws(VaultError) {
                guard let offer = task.offer else { return try await stager.unlock(task.id) }
                return try await stager.stage(offer)
            } catch {
                // An attempt may take long, so at least one retry is made, whatever the deadline.
                let isLast = deadline.map { .now > $0 } ?? false
                guard error.category == .busy, !isLast, stager.opensPacks else { throw error }
                deadline = deadline ?? .now + .seconds(2)
                try await pause(for: .milliseconds(100), at: task.id.description)
            }
        }
    }
}

extension PackStager {
    /// Not recorded: cancelled, paused and busy work, a missing key, and a metered allowance that is used up.
    func recordFailure(_ error: VaultError, of task: StagingTask) async {
        let isAwaitingKey = task.offer == nil && error.category == .key
        guard error.concernsOnePack, !isAwaitingKey, error.category != .limit else { return }
        // An error after the rename into shared/ is not recorded: the pack is there.
        if !opensPacks, let pack = task.offer?.pack,
            (try? store.waiting(pack.id).open(pack)) != nil
        {
            return
        }
        try? await store.record(.failed(PackFailure(error)), of: task.id)
    }
}

/// One pack to be worked on.
struct StagingTask: Sendable {
    let id: PackID
    /// Nil for a waiting pack that only needs to be opened.
    let offer: LocatedPack?
    /// Whether the app asks for it: then it is staged even if it was removed.
    var isRequested = false
    /// What it needs of the network; a waiting pack needs none.
    var need = NetworkNeed.anyNetwork
    /// Whether others wait for it, or it waits for others.
    var precedence = DownloadPrecedence.independent
    /// Whether it is to be opened now, so that a missing key is a failure.
    var needsKey = false
}

extension StagingRun {
    /// Opens the packs that ``PackStager/unopenedIDs(among:)`` found. Returns those that were loaded, and the first error when all were
    /// tried.
    func unlock(
        _ ids: [PackID]
    ) async throws(VaultError) -> (loaded: [PackID], firstError: VaultError?) {
        let outcomes = try await run(
            ids.map { StagingTask(id: $0, offer: nil, need: .noNetwork, needsKey: true) })
        var loaded: [PackID] = []
        var firstError: VaultError?
        for outcome in outcomes {
            switch outcome.result {
            case .success(.loaded): loaded.append(outcome.id)
            case .success: break
            case .failure(let error): firstError = firstError ?? error
            }
        }
        return (loaded, firstError)
    }
}
