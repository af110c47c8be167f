public import SealedPack
import VaultConcurrency
public import VaultErrors

/// The result of a downloader's run.
public struct DownloaderReport: Sendable {
    /// In the order in which they were planned. Packs without enough time have failed with `.busy`.
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
