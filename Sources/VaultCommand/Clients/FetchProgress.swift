import AssetVault
import SealedPack
import Synchronization
import VaultErrors
import VaultTransport

/// Prints a client's updates: one bar for each kind of step, and a line for each finished pack. Failures are printed at
/// the end, one line each.
final class FetchProgress: Sendable {
    private struct Shown: ~Copyable {
        var fetching = PacksUnderWay("fetching")
        var opening = PacksUnderWay("opening")
        /// Failures that no later attempt made up for.
        var failures: [(id: PackID, error: VaultError)] = []
        var removed: [PackID] = []
        /// Packs that were changed, and are ready for use now.
        var loaded: [PackID] = []
        /// Whether any pack had a final update.
        var hasUpdates = false
        /// Packs that were changed.
        var moved: Set<PackID> = []
        /// Packs that none of the keys opens, with the error.
        var locked: [(id: PackID, error: VaultError)] = []
        /// Packs that were sent as a whole, with the URL.
        var whole: [PackID: SiteLocation] = [:]
    }

    private let shown = Mutex(Shown())

    func show(_ update: StatusUpdate) {
        if update.endsAPack { shown.withLock { $0.hasUpdates = true } }
        switch update {
        case .progress(let id, _, let bytes, let total):
            shown.withLock { $0.fetching.show(id, bytes, of: total) }
        case .sentWhole(let id, let file): shown.withLock { $0.whole[id] = file }
        case .opening(let id, let bytes, let total):
            noteMoved(id)
            shown.withLock { $0.opening.show(id, bytes, of: total) }
        case .finished(let id, let state):
            end(id)
            forgetFailure(of: id)
            reportWhole(id)
            switch state {
            case .toBeTransferred: reportWaiting(id)
            case _ where lockError(of: id) != nil:
                let what = state == .loaded ? "what is loaded stays" : "not downloaded"
                Console.note("locked  \(id): \(what): \(lockError(of: id)?.problem ?? "")")
            case .loaded: reportLoaded(id)
            case .absent:
                shown.withLock { $0.removed.append(id) }
                Console.note("removed  \(id)")
            case .downloading: Console.note("left  \(id): the app downloads it")
            default: break
            }
        case .failed(let id, let error):
            end(id)
            forgetFailure(of: id)
            shown.withLock { $0.failures.append((id, error)) }
        case .awaitingKey(let id, let error): noteLocked(id, error)
        case .began(let id), .transferring(let id): noteMoved(id)
        case .planned, .verifying: break
        }
    }

    private func noteLocked(_ id: PackID, _ error: VaultError) {
        shown.withLock { shown in
            shown.locked.removeAll { $0.id == id }
            shown.locked.append((id, error))
        }
    }

    private func lockError(of id: PackID) -> VaultError? {
        shown.withLock { $0.locked.first { $0.id == id }?.error }
    }

    /// Its key is missing, or no key was given.
    private func reportWaiting(_ id: PackID) {
        if let error = lockError(of: id) {
            Console.note("verified  \(id): it waits in shared storage: \(error.problem)")
        } else {
            Console.note("verified  \(id): it waits in shared storage for its key")
            noteLocked(
                id,
                VaultError(
                    .key, "it waits in shared storage for its key", at: id.description,
                    remedy: "give a source of keys, such as --keys file:vault.jwks"))
        }
    }

    /// The packs whose key is missing, with the error.
    var locked: [(id: PackID, error: VaultError)] { shown.withLock { $0.locked } }

    var firstMissingKey: VaultError? { locked.first?.error }

    private func reportLoaded(_ id: PackID) {
        let isNew = hasMoved(id)
        if isNew { shown.withLock { $0.loaded.append(id) } }
        Console.note("\(isNew ? "loaded" : "up to date")  \(id)")
    }

    private func noteMoved(_ id: PackID) {
        shown.withLock { _ = $0.moved.insert(id) }
    }

    private func hasMoved(_ id: PackID) -> Bool {
        shown.withLock { $0.moved.remove(id) != nil }
    }

    /// Without Range requests updates are large.
    private func reportWhole(_ id: PackID) {
        guard let file = shown.withLock({ $0.whole.removeValue(forKey: id) }) else { return }
        Console.note("whole  \(id): the host sends no parts of files, so all of it is sent: \(file)")
    }

    /// Packs that were removed: by the app, or for disk space.
    var removed: [PackID] { shown.withLock { $0.removed } }

    /// Packs that were loaded.
    var loaded: [PackID] { shown.withLock { $0.loaded } }

    /// Whether no pack had a final update.
    var isSilent: Bool { shown.withLock { !$0.hasUpdates } }

    private func forgetFailure(of id: PackID) {
        shown.withLock { $0.failures.removeAll { $0.id == id } }
    }

    /// Prints a line for each failure but `last`, which the caller prints. Cancelled work has not failed.
    func reportFailures(and others: [VaultError] = [], before last: VaultError) {
        finish()
        var printed = [last]
        for error in shown.withLock({ $0.failures.map(\.error) }) + others
        where !error.isCancellation && !printed.contains(error) {
            Console.error(error)
            printed.append(error)
        }
    }

    /// Prints the first packs that this release can't read, and the number of the others.
    private func tell(_ skipped: [SkippedPack]) {
        guard !skipped.isEmpty else { return }
        finish()
        shown.withLock { $0.hasUpdates = true }
        for pack in skipped.prefix(Self.skippedLimit) {
            Console.note("skipped  \(pack.path): \(pack.reason)")
        }
        if skipped.count > Self.skippedLimit {
            Console.note(
                "skipped  \(skipped.count - Self.skippedLimit) more packs that this release can't read")
        }
    }

    private static let skippedLimit = 4

    /// Clears the line before other output.
    func finish() {
        shown.withLock { shown in
            shown.fetching.clear()
            shown.opening.clear()
        }
    }

    private func end(_ id: PackID) {
        finish()
        shown.withLock { shown in
            shown.fetching.end(id)
            shown.opening.end(id)
        }
    }

    /// Prints the updates of `work`, and at its end all failures but the error that it throws.
    func whileShowing<Value: Sendable>(
        _ work: (@escaping @Sendable (StatusUpdate) -> Void) async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        defer { finish() }
        do throws(VaultError) {
            let result = try await work { self.show($0) }
            for id in shown.withLock({ $0.whole.keys.sorted() }) { reportWhole(id) }
            return result
        } catch {
            reportFailures(before: error)
            throw error
        }
    }

    /// Two publishers started from the same state of the site.
    static func warn(ofContested version: Int64) {
        Console.note(
            "warning: the site's version \(version) was published twice, with different contents; the one that was verified"
                + " first is kept until the site has a higher version, so its publisher should publish again")
    }

    /// The same for the work of a client.
    func whileShowing<Value: Sendable>(
        _ configuration: VaultConfiguration,
        _ work: @Sendable (VaultClient) async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        let client = try VaultClient(configuration)
        let updates = client.statusUpdates
        return try await whileShowing { show throws(VaultError) in
            async let shown: Void = {
                for await update in updates { show(update) }
            }()
            let result: Result<Value, VaultError>
            do throws(VaultError) { result = .success(try await work(client)) } catch {
                result = .failure(error)
            }
            if let version = await client.contestedVersion { Self.warn(ofContested: version) }
            client.endStatusUpdates()
            await shown
            tell(await client.skippedPacks)
            return try result.get()
        }
    }
}

extension StatusUpdate {
    /// Whether it is the final update of a pack.
    fileprivate var endsAPack: Bool {
        switch self {
        case .finished, .failed: true
        default: false
        }
    }
}
