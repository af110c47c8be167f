import AssetVault
import SealedPack
import Synchronization

/// Turns a client's updates into one bar a pack and step, and a line for each pack that is done. A failure is told by its
/// error alone.
final class FetchProgress: Sendable {
    private struct Step: Equatable {
        let label: String
        let id: PackID
    }

    private struct Shown: ~Copyable {
        var step: Step?
        var bar: ProgressBar?
    }

    private let shown = Mutex(Shown())

    func show(_ update: StatusUpdate) {
        switch update {
        case .progress(let id, let bytes, let total): draw(Step(label: "fetching", id: id), bytes, total)
        case .opening(let id, let bytes, let total): draw(Step(label: "opening", id: id), bytes, total)
        case .finished(let id, let state):
            finish()
            switch state {
            case .loaded: Talk.note("loaded  \(id)")
            case .toBeTransferred: Talk.note("verified  \(id): it waits in shared storage for its key")
            default: break
            }
        case .began, .verifying, .transferring, .failed: break
        }
    }

    func finish() {
        shown.withLock { shown in
            shown.bar?.finish()
            shown.bar = nil
            shown.step = nil
        }
    }

    /// Runs `work` with a client and shows what it does; what came last is shown before this returns.
    func whileShowing<Value: Sendable>(
        _ configuration: VaultConfiguration,
        _ work: @Sendable (VaultClient) async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        let client = try VaultClient(configuration)
        let updates = client.statusUpdates
        async let shown: Void = {
            for await update in updates { show(update) }
        }()
        let result: Result<Value, VaultError>
        do throws(VaultError) { result = .success(try await work(client)) } catch { result = .failure(error) }
        client.endStatusUpdates()
        await shown
        finish()
        return try result.get()
    }

    private func draw(_ step: Step, _ bytes: UInt64, _ total: UInt64) {
        shown.withLock { shown in
            if shown.step != step {
                shown.bar?.finish()
                shown.bar = ProgressBar("\(step.label) \(step.id)", total: total)
                shown.step = step
            }
            shown.bar?.show(bytes)
        }
    }
}
