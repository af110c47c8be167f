public import SealedPack
public import VaultErrors

/// What a downloader did.
public struct DownloaderReport: Sendable {
    /// In the order in which they were planned. What lacked time has failed with `.busy`.
    public let packs: [(id: PackID, result: Result<PackState, VaultError>)]
    /// Downloads that were wanted and are not allowed, and roles of the site that are not believed.
    public let refusals: [VaultError]
    /// The version of the site that was published twice, as ``VaultClient/contestedVersion``.
    public let contestedVersion: Int64?
    /// How many packs ran out of time.
    private let unfinished: Int

    /// - Parameter outcomes: cancelled ones ran out of time.
    init(_ outcomes: [StagingRun.Outcome], refusals: [VaultError], contestedVersion: Int64?) {
        self.refusals = refusals
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

    /// That the time was up, else the first thing that did not go well; nil when all that was wanted is there.
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
