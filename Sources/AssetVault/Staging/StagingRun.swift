import SealedPack
import VaultErrors

/// Does what a plan says: removals first, then what only needs to be transferred, then the downloads, several at once. A
/// pack that fails leaves all others, and its own earlier version, as they were.
struct StagingRun: Sendable {
    let stager: PackStager
    let controls: WorkControls
    /// How many packs are worked on at a time.
    let width: Int

    /// What became of one pack.
    struct Outcome: Sendable {
        let id: PackID
        let result: Result<PackState, VaultError>
        /// Why it was not opened, where only its key is missing.
        var missingKey: VaultError?
    }

    /// - Returns: the outcome of every pack that something was done with, in the order of the plan.
    func run(_ plan: Plan, _ offers: [OfferedPack], on occasion: PlanningOccasion) async throws(VaultError)
        -> [Outcome]
    {
        let offered = Dictionary(offers.map { ($0.pack.id, $0) }, uniquingKeysWith: { first, _ in first })
        let replaced = replacedDownloads(of: plan)
        for removal in plan.removals where !replaced.contains(removal) {
            do throws(VaultError) { try await remove(removal) } catch {
                // Another pack is not to suffer from it; this one is told when it is staged, or at the next removal.
                if Task.isCancelled { throw error }
            }
        }
        for refusal in plan.refusals { stager.observer(.failed(refusal.pack.id, refusal.error)) }
        for download in plan.downloads {
            stager.observer(
                .planned(download.pack.id, download.pack.offer.policy, total: download.pack.length))
        }
        // A downloader leaves what waits in shared storage to the app.
        let transfers = plan.transfers.filter { $0.stage != .waiting || stager.opensPacks }
        // What waits although it is not listed needs no listing: its record says all.
        let ids = plan.settled.map(\.id) + transfers.map(\.pack.id) + plan.downloads.map(\.pack.id)
        let outcomes = try await run(
            ids.map { StagingTask(id: $0, offer: offered[$0], isWish: occasion.isWish) })
        for removal in replaced { try? await remove(removal) }
        return outcomes
    }

    /// Downloads that were begun of versions that others replace now: these may have pieces in common with them, so where
    /// there is room for both they go away afterwards.
    private func replacedDownloads(of plan: Plan) -> [PlannedRemoval] {
        let bytes = plan.downloads.reduce(UInt64(0)) { $0 + min($1.pack.length, .max - $0) }
        guard (try? stager.space.fits(bytes, in: stager.store.layout.ephemeral)) == true else {
            return []
        }
        let ids = Set(plan.downloads.map(\.pack.id))
        return plan.removals.filter { removal in
            guard case .file(let file) = removal else { return false }
            return file.stage != .waiting && ids.contains(file.pack.id)
        }
    }

    func run(_ tasks: [StagingTask]) async throws(VaultError) -> [Outcome] {
        guard !tasks.isEmpty else { return [] }
        let mark = try stager.store.recovery.beginWork()
        defer { withExtendedLifetime(mark) {} }
        // Once: whoever removes one of them later does not want it any more.
        for task in tasks where task.isWish {
            do throws(VaultError) { try await stager.store.journal.recordRequest(for: task.id) } catch {
                // This one will be told that it was taken out; the others go on.
                guard error.concernsOnePack else { throw error }
            }
        }
        return await outcomes(of: tasks)
    }

    private func remove(_ removal: PlannedRemoval) async throws(VaultError) {
        switch removal {
        case .pack(let id): try await stager.store.recovery.recover(id)
        case .file(let file) where file.stage == .waiting:
            // It goes away when a newer one takes its place: until then it is better than nothing.
            break
        case .file(let file): try stager.store.removal.discardDownload(of: file.pack)
        }
    }

    private func outcomes(of tasks: [StagingTask]) async -> [Outcome] {
        let turns = AsyncSemaphore(width)
        // All of it may be given up from now on, also what waits for its turn.
        let planned = tasks.map { controls.plan($0.id) }
        return await withTaskGroup(of: (Int, Outcome).self) { group in
            var found: [Outcome?] = Array(repeating: nil, count: tasks.count)
            for (number, task) in tasks.enumerated() {
                do throws(VaultError) { try await turns.take(for: task.id.description) } catch {
                    controls.end(planned[number])
                    found[number] = told(.failure(error), of: task.id)
                    continue
                }
                group.addTask { (number, await outcome(of: task, planned[number], in: turns)) }
            }
            for await (number, outcome) in group { found[number] = outcome }
            return found.compactMap(\.self)
        }
    }

    /// - Parameter turns: one of them was taken for it.
    private func outcome(of task: StagingTask, _ work: WorkControls.Work, in turns: AsyncSemaphore) async
        -> Outcome
    {
        defer { controls.end(work) }
        do throws(VaultError) {
            let (state, missingKey) = try await controls.run(work, in: turns) { () throws(VaultError) in
                do throws(VaultError) {
                    return (try await stage(task), VaultError?.none)
                } catch {
                    if !task.needsKey, let state = try await stager.waits(task, for: error) {
                        return (state, error)
                    }
                    await note(error, of: task)
                    throw error
                }
            }
            if let missingKey { stager.observer(.awaitingKey(task.id, missingKey)) }
            // Nothing was there to be opened.
            if task.offer == nil, state == .absent { return Outcome(id: task.id, result: .success(state)) }
            var outcome = told(.success(state), of: task.id)
            outcome.missingKey = missingKey
            return outcome
        } catch {
            return told(result(of: task.id, endedBy: error), of: task.id)
        }
    }

    /// What the app takes out meanwhile is not wanted any more: a downloader has not failed with it.
    private func result(of id: PackID, endedBy error: VaultError) -> Result<PackState, VaultError> {
        if Task.isCancelled { return .failure(.cancelled(id.description)) }
        let isUnwanted = !stager.opensPacks && (try? stager.store.records.record(of: id).isRemoved) == true
        return isUnwanted ? .success(.absent) : .failure(error)
    }

    private func told(_ result: Result<PackState, VaultError>, of id: PackID) -> Outcome {
        switch result {
        case .success(let state): stager.observer(.finished(id, state))
        case .failure(let error): stager.observer(.failed(id, error))
        }
        return Outcome(id: id, result: result)
    }

    /// What was given up or held up has not failed, nor has what another process is at, or what goes on waiting for its key.
    private func note(_ error: VaultError, of task: StagingTask) async {
        let isLocked = task.offer == nil && error.category == .key
        guard error.concernsOnePack, !isLocked else { return }
        // A downloader's part is done when the pack has its name: it is only not certain that this would outlast a power
        // failure.
        if !stager.opensPacks, let pack = task.offer?.pack,
            (try? stager.store.waiting(pack.id).open(pack)) != nil
        {
            return
        }
        try? await stager.store.journal.recordFailure(error, of: task.id)
    }

    /// Other processes want the same packs: what one of them took on meanwhile is looked for where it is now.
    private func stage(_ task: StagingTask) async throws(VaultError) -> PackState {
        var deadline: ContinuousClock.Instant?
        while true {
            do throws(VaultError) {
                guard let offer = task.offer else { return try await stager.unlock(task.id) }
                return try await stager.stage(offer)
            } catch {
                // One attempt may take long: it is made once more at least.
                let isLast = deadline.map { .now > $0 } ?? false
                guard error.category == .busy, !isLast, case .app = stager.role else { throw error }
                deadline = deadline ?? .now + .seconds(2)
                do { try await Task.sleep(for: .milliseconds(100)) } catch {
                    throw VaultError.cancelled(task.id.description)
                }
            }
        }
    }
}

/// One pack to be worked on.
struct StagingTask: Sendable {
    let id: PackID
    /// Nil for a pack that waits and only needs to be opened.
    let offer: OfferedPack?
    /// Whether the app asks for it: then it comes even if it was removed.
    var isWish = false
    /// Whether it is to be opened now, so that a missing key is a failure.
    var needsKey = false
}
