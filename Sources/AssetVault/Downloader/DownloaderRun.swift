import SealedPack
import UpdateFramework
import VaultConcurrency
import VaultErrors

/// One run of a downloader.
struct DownloaderRun: Sendable {
    let configuration: VaultConfiguration
    let store: StoreAccess
    let access: SiteAccess
    let request: ContentRequest
    let now: UTCTime
    let width: Int
    let observer: Observer

    func run() async throws(VaultError) -> DownloaderReport {
        try await store.recovery.recover()
        let listing = try await access.refresh(now: now)
        let selected = try await SelectedPacks(.all, of: access, in: listing)
        let stored = try await store.inventory.storedPacks(
            for: selected.offers, as: nil, listedBy: listing.version)
        let plan = Plan(
            stored: stored, offered: selected.offers.map(\.pack), occasion: .downloader(request),
            policy: configuration.policy, sources: configuration.locations,
            metadataBytes: try access.metadataBytes())
        let stager = PackStager(
            store: store, transport: configuration.effectiveTransport, retries: configuration.retries,
            role: .downloader, openings: AsyncSemaphore(1), observer: observer)
        let run = StagingRun(stager: stager, controls: WorkControls(), width: width)
        var outcomes = try await run.run(plan, selected.offers, on: .downloader(request))
        try await retryEssentials(of: plan, &outcomes, selected.offers, run)
        do throws(VaultError) { try await store.removal.removeUnneededDownloads() } catch {
            guard Task.isCancelled else { throw error }
        }
        return DownloaderReport(
            outcomes, refusals: selected.refusals + plan.refusals.map(\.error),
            contestedVersion: listing.contestedVersion)
    }

    /// Essential packs that failed are tried again after all others.
    private func retryEssentials(
        of plan: Plan, _ outcomes: inout [StagingRun.Outcome], _ offers: [OfferedPack], _ run: StagingRun
    ) async throws(VaultError) {
        let essential = Set(plan.downloads.filter(\.isEssential).map(\.pack.id))
        let failed = outcomes.filter { outcome in
            guard case .failure(let error) = outcome.result, essential.contains(outcome.id) else {
                return false
            }
            return error.category == .unavailable || error.category == .corrupt
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
