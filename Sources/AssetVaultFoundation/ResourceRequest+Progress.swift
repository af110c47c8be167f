public import AssetVault
public import Foundation

extension ResourceRequest {
    /// The downloads of the request as a `Progress`, in bytes, with a child for each pack that was missing. Pausing, resuming and cancelling
    /// it do so for the request. It is finished when the access has begun, as 1 of 1 where nothing was missing; after a failure it stays as it
    /// is, and another one shows the next attempt.
    ///
    /// ```swift
    /// let progress = request.makeProgress()
    /// async let shown: Void = bar.show(progress)
    /// try await request.beginAccessing()
    /// ```
    public func makeProgress() -> Progress {
        let whole = Progress(totalUnitCount: 0)
        whole.isPausable = true
        whole.isCancellable = true
        whole.pausingHandler = { [weak self] in self?.pause() }
        whole.resumingHandler = { [weak self] in self?.resume() }
        whole.cancellationHandler = { [weak self] in self?.cancel() }
        let updates = progressUpdates
        let shown = ShownProgress(whole)
        Task.detached { for await update in updates { shown.show(update) } }
        return whole
    }
}

/// A progress with its children. `Progress` may be used from any thread.
private final class ShownProgress: @unchecked Sendable {
    private let whole: Progress
    /// Used by the one task that reads the updates.
    private var parts: [PackID: Progress] = [:]

    init(_ whole: Progress) { self.whole = whole }

    func show(_ progress: LoadingProgress) {
        // Without any unit it would never be finished.
        guard !progress.packs.isEmpty else {
            (whole.totalUnitCount, whole.completedUnitCount) = (1, 1)
            return
        }
        whole.totalUnitCount = Int64(clamping: progress.total)
        for (id, part) in progress.packs {
            let total = Int64(clamping: part.total)
            let child =
                parts[id]
                ?? {
                    let child = Progress(totalUnitCount: total)
                    whole.addChild(child, withPendingUnitCount: total)
                    parts[id] = child
                    return child
                }()
            child.completedUnitCount = Int64(clamping: part.bytes)
        }
    }
}
