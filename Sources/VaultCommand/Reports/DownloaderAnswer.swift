import AssetVault
import SealedPack
import VaultErrors

/// What a downloader did: JSON only, since people see its progress.
struct DownloaderAnswer: Report {
    let outcome: Result<DownloaderReport, VaultError>
    /// Packs that were removed for disk space.
    let removed: [PackID]

    private var refusals: [VaultError] {
        switch outcome {
        case .success(let report): report.refusals
        case .failure(let error): [error]
        }
    }

    var columns: [Column<Self>] {
        [
            .texts("removed") { $0.removed },
            .table(
                "packs",
                [
                    .text("id") { $0.id }, .text("state") { (try? $0.result.get())?.name },
                    .text("failure") { $0.result.failure?.problem },
                    .text("category") { $0.result.failure?.category.rawValue },
                ]
            ) { (try? $0.outcome.get())?.packs ?? [] },
            // The category is for scripts, the text for people.
            .table(
                "refusals",
                [
                    .text("place") { $0.place }, .text("failure") { $0.problem },
                    .text("category") { $0.category.rawValue },
                ]
            ) { $0.refusals },
        ]
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
