public import SealedPack
import UpdateFramework
public import VaultBase
import VaultFileSystem
import VaultTransport

/// What a fetch would download of one pack.
public struct DownloadCost: Sendable, Hashable {
    public let id: PackID
    /// The version that is offered.
    public let version: UInt64
    /// What a host must still send of it.
    public let cost: UpdateCost
    /// Bytes that are written at most, and so the disk space that it takes beside what is there: pieces of a pack that stays sealed, or
    /// files of an opened one that are not linked to those of the version before.
    public let written: UInt64
    /// The set with which it becomes ready for use, counted from 1: until then the disk has the new versions of all of them beside the
    /// old ones. Nil for a pack that becomes ready by itself.
    public let set: Int?
}

extension VaultClient {
    /// What ``fetch(_:priority:within:)`` would download now, in the order in which it would begin. The trusted metadata are
    /// updated, and of each pack the index and the catalog are read. Partial downloads keep what was read; nothing else of the store
    /// changes.
    ///
    /// Pieces in the store are assumed to be sound; a fetch verifies them. That a host does not support Range requests may be found only
    /// later. ``PlanningPolicy/meteredAllowance`` is ignored: the result tells by how much to raise it. Packs that a fetch would not
    /// begin, because one that is used only together with them is missing, are left out; updates name them as in a fetch.
    ///
    /// - Parameter time: how long it may take; then `.busy` is thrown.
    /// - Throws: what a fetch throws; the first error when all packs were tried.
    public func costs(
        of selection: PackSelection = .automatic, within time: Duration? = nil
    ) async throws(VaultError) -> [DownloadCost] {
        return try await store.naming { () throws(VaultError) in
            try await withTimeLimit(time, at: "fetch") { () throws(VaultError) in
                try await self.findCosts(of: selection)
            }
        }
    }

    private func findCosts(of selection: PackSelection) async throws(VaultError) -> [DownloadCost] {
        let view = try await updateListing()
        let selected = try await completed(try await select(selection, in: view), by: view)
        let stored = try await storeAccess.inventory.inspectedPacks(for: selected.offers, as: wantedForm)
        let keys = keysOfRun(for: selected.offers)
        let trigger = PlanTrigger.app(selected.selection)
        let input = await planInput(for: selected, on: trigger, with: stored, using: keys)
        let (plan, offers) = (Plan(input), selected.offers.byID)
        reportLocked(of: plan, input.missingKeys)
        var sets: [PackID: Int] = [:]
        for (place, set) in plan.sets.enumerated() {
            for pack in set.packs { sets[pack.id] = place + 1 }
        }
        var stager = stager(with: keys, within: newAllowance)
        // It says what the allowance may be raised by.
        stager.network = networkGate
        stager.space.isEstimate = true
        let refused = try await refusals(of: plan, for: selected, by: stager)
        var costs: [DownloadCost] = []
        var firstError = selected.refusals.first ?? refused.firstError
        for download in plan.downloads where !refused.ids.contains(download.pack.id) {
            guard let offer = offers[download.pack.id] else { continue }
            do throws(VaultError) {
                guard let (cost, written) = try await stager.cost(of: offer) else { continue }
                costs.append(
                    DownloadCost(
                        id: store.shownID(of: offer.pack.id), version: offer.pack.version, cost: cost,
                        written: written, set: sets[offer.pack.id]))
            } catch {
                if Task.isCancelled { throw error }
                firstError = firstError ?? error
            }
        }
        if let error = firstError ?? plan.refusals.first?.error { throw error }
        return costs
    }

    /// What a run would not begin of a plan, reported as the run does, and the first error. Leaves no new file.
    private func refusals(
        of plan: Plan, for selected: SelectedPacks, by stager: PackStager
    ) async throws(VaultError) -> (ids: Set<PackID>, firstError: VaultError?) {
        let run = run(of: plan, for: selected, by: stager, in: work.makeBatch())
        for pack in plan.deferred { _ = run.reportDeferred(pack.id) }
        let outcomes = try await run.refuseSets(of: plan, selected.offers.byID)
        let errors = outcomes.compactMap { outcome in
            if case .failure(let error) = outcome.result { error } else { nil }
        }
        return (Set(outcomes.map(\.id)), errors.first)
    }
}

extension PackStager {
    /// The cost of downloading a pack now, and the bytes that are written; nil where no download is needed. The tail that is fetched for
    /// this is the beginning of the download, so that nothing comes twice; an estimate keeps it only in a download that has begun.
    func cost(of offer: LocatedPack) async throws(VaultError) -> (transfer: UpdateCost, written: UInt64)? {
        if try await keptPack(offer.pack) != nil { return nil }
        let file = DownloadFile(layout: store.layout, pack: offer.pack)
        try store.layout.makeEphemeral()
        if case .whole = try file.arrival() { return nil }
        var download = newDownload(of: offer, to: file, restingOn: try arrivalBasis(for: offer.pack.id))
        let partial = store.layout.partialDownload(of: offer.pack)
        let hasBegun = try FileSystem.status(of: partial).map(EphemeralName.isOurs) ?? false
        guard space.isEstimate, !hasBegun else { return try await download.cost(of: file.claim()) }
        let scratch = try ScratchFile(for: partial)
        let copy = try OpenFile(duplicating: scratch.file.descriptor, named: scratch.file.path)
        return try await download.cost(of: OpenFileReference(copy))
    }

    /// The plan of an input, within the metered allowance. If whole packs would exceed that, their tails are fetched first, because an
    /// update may need few pieces.
    func affordablePlan(of input: PlanInput, for offers: [LocatedPack]) async throws(VaultError) -> Plan {
        let plan = Plan(input)
        guard let allowance = network.allowance.left, input.network == .metered,
            plan.downloads.saturatingSum(\.pack.length) > allowance
        else { return plan }
        let offers = offers.byID
        var limited = input
        limited.policy.meteredAllowance = allowance
        // The tails count as well, up to the whole allowance.
        var left = allowance
        var begun: [PackManifest] = []
        for offer in plan.downloads.compactMap({ offers[$0.pack.id] }) where offer.pack.tailLength <= left {
            left -= offer.pack.tailLength
            do throws(VaultError) {
                let file = DownloadFile(layout: store.layout, pack: offer.pack)
                if try file.arrival() == nil { begun.append(offer.pack) }
                limited.costs[offer.pack.id] = try await cost(of: offer)?.transfer.bytes ?? 0
            } catch {
                // Its download reports the error; until then all of its bytes count.
                if Task.isCancelled || error.category == .unreachable { throw error }
            }
        }
        let affordable = Plan(limited)
        let admitted = Set(affordable.downloads.map(\.pack.id))
        // A refused download leaves no file.
        for pack in begun where !admitted.contains(pack.id) {
            try? store.removal.discardDownload(of: pack)
        }
        return affordable
    }
}

extension PackDownload {
    /// The cost of completing the file. Fetches only the tail (index and catalog) into the file, if the file does not have
    /// it yet; which pieces can be reused follows from the indexes of other packs in the store.
    ///
    /// - Parameter lockedFile: the file of the download; the caller has its lock.
    /// - Returns: what is transferred, and the bytes that are written at most.
    mutating func cost(
        of lockedFile: OpenFileReference
    ) async throws(VaultError) -> (transfer: UpdateCost, written: UInt64) {
        var assembly = try PackAssembly(lockedFile, of: pack)
        _ = try await assembly.verifyTail()
        var opened: UInt64 = 0
        if case .trees = reusable?.basis { opened = pack.installedSize }
        let single = (assembly.costOfSingleRequest, pack.length.saturatingAdding(opened))
        if assembly.isEmpty, assembly.prefersSingleRequest(hasReusablePacks: reusable?.hasSources ?? false) {
            return single
        }
        var tailLength: UInt64 = 0
        while assembly.isTailUnverified, let wanted = try assembly.wanted() {
            if tailLength == 0 { tailLength = UInt64(wanted.count) }
            let before = assembly.receivedLength
            try budget.takeRequest()
            do throws(TransferFailure) {
                let answer = await PartRequest(wanted, isForAll: false).answer(from: remote)
                // The rest of the body is not read.
                guard try answer.content.get().range != 0..<pack.length else {
                    observer(.sentWhole(pack.id, sources.location))
                    return single
                }
                try await take(answer, into: &assembly) { _ in }
            } catch {
                try await recover(from: error, in: &assembly, receivedBefore: before)
            }
        }
        let rest = try await reusable?.rest(&assembly, isArriving: true)
        var written = pack.length - min(pack.length, assembly.presentLength)
        if case .trees(let basis, _, _) = rest {
            written = pack.installedSize - min(pack.installedSize, basis?.linkedLength ?? 0)
        }
        let others = reusable?.sources(with: try assembly.missingPieces())
        guard let cost = try assembly.cost(reusing: others ?? { nil }, countingTail: tailLength) else {
            return single
        }
        return (cost, written)
    }
}
