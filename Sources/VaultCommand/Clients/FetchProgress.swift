import AssetVault
import SealedPack
import Synchronization
import VaultBase
import VaultTransport

/// Prints a client's updates: one bar for each kind of step, a line for each pack that changed, and one for all others. Failures are
/// printed at the end, one line each.
final class FetchProgress: Sendable {
    private let printer = Mutex(UpdatePrinter())

    func show(_ update: StatusUpdate) { printer.withLock { $0.show(update) } }

    var locked: [(id: PackID, error: VaultError)] { printer.withLock { $0.locked } }
    var removed: [PackID] { printer.withLock { $0.removed } }
    var loaded: [PackID] { printer.withLock { $0.loaded } }
    var failures: [VaultError] { printer.withLock { $0.failures.map(\.error) } }
    var hasPrintedNothing: Bool { printer.withLock { $0.hasPrintedNothing } }

    func finish() { printer.withLock { $0.finish() } }

    /// Prints a line for each failure but `last`, which the caller prints. Cancelled work has not failed.
    func reportFailures(and others: [VaultError] = [], before last: VaultError) {
        finish()
        var printed = [last]
        for error in failures + others
        where !error.isCancellation && !printed.contains(error) {
            Console.error(error)
            printed.append(error)
        }
    }

    /// Prints the updates of `work`, and at its end all failures but the error that it throws.
    func whileShowing<Value: Sendable>(
        _ work: (@escaping @Sendable (StatusUpdate) -> Void) async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        defer { finish() }
        do throws(VaultError) {
            let result = try await work { self.show($0) }
            printer.withLock { $0.printSentWhole() }
            return result
        } catch {
            reportFailures(before: error)
            throw error
        }
    }

    /// The same for the work of a client.
    func whileShowing<Value: Sendable>(
        _ configuration: VaultConfiguration,
        _ work: @Sendable (VaultClient) async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        let client = try VaultClient(configuration)
        let updates = client.statusUpdates
        return try await whileShowing { show throws(VaultError) in
            async let all: Void = {
                for await update in updates { show(update) }
            }()
            let result = await outcome { () throws(VaultError) in try await work(client) }
            if let version = await client.contestedVersion { Self.warn(ofContested: version) }
            client.endStatusUpdates()
            await all
            Self.note(unstated: await client.unstatedTraits)
            let skipped = await client.skippedPacks
            printer.withLock {
                $0.printSkipped(skipped)
                $0.printReceived(client.receivedBytes)
            }
            return try result.get()
        }
    }

    /// Two publishers started from the same state of the site.
    static func warn(ofContested version: Int64) {
        Console.note(
            "warning: the site's version \(version) was published twice, with different contents; the one that was verified"
                + " first is kept until the site has a higher version, so its publisher should publish again")
    }

    /// Says that variants were left out by traits of which nothing was ever stated.
    static func note(unstated traits: [String]) {
        guard !traits.isEmpty else { return }
        Console.note(
            "no device is stated: of variants by \(traits.listed(upTo: 8)) the fallbacks are taken; state it, such as --device \(traits[0])=VALUE, or take all with --device all"
        )
    }
}

/// Prints the updates of a client, and keeps what the command needs at the end.
struct UpdatePrinter: ~Copyable {
    /// Failures without a later successful attempt.
    private(set) var failures: [(id: PackID, error: VaultError)] = []
    /// Packs that were removed: by the app, or for disk space.
    private(set) var removed: [PackID] = []
    /// Packs that were changed, and are ready for use now.
    private(set) var loaded: [PackID] = []
    /// Packs that none of the keys opens, with the error.
    private(set) var locked: [(id: PackID, error: VaultError)] = []
    /// Whether no line was printed for any pack.
    private(set) var hasPrintedNothing = true
    private var work = PackWork()
    private var fetching = CombinedProgress("fetching")
    private var opening = CombinedProgress("opening")
    private var verifying = CombinedProgress("verifying")
    /// Packs whose bytes come.
    private var downloading: Set<PackID> = []
    private var hasDownloaded = false
    /// Packs that are left until the network is not metered.
    private var deferred: Set<PackID> = []
    /// Packs that wait for the others of their set, and one that is missing.
    private var awaitingSet: [PackID: PackID] = [:]
    /// Packs that were ready for use before.
    private var upToDate: Set<PackID> = []
    /// Packs that are being changed.
    private var changing: Set<PackID> = []
    /// Packs that were sent as a whole, with the URL.
    private var sentWhole: [PackID: SiteLocation] = [:]

    mutating func show(_ update: StatusUpdate) {
        work.note(update)
        switch update {
        case .progress(let id, _, let bytes, let total):
            downloading.insert(id)
            changing.insert(id)
            fetching.show(id, bytes, of: total, fraction: work.fraction)
        case .opening(let id, let bytes, let total):
            changing.insert(id)
            opening.show(id, bytes, of: total, fraction: work.fraction)
        case .began(let id), .transferring(let id): changing.insert(id)
        case .sentWhole(let id, let file): sentWhole[id] = file
        case .diskSpaceLow(let id, let missing):
            clear()
            Console.note(
                "low on disk space: \(missing) bytes are missing for \(id); purgeable packs are removed")
        case .deferred(let id): deferred.insert(id)
        case .awaitingKey(let id, let error): noteLocked(id, error)
        case .awaitingSet(let id, let missing): awaitingSet[id] = missing
        case .finished(let id, let state):
            if downloading.contains(id) { hasDownloaded = true }
            end(id)
            printSentWhole(id)
            printState(state, of: id)
        case .failed(let id, let error):
            end(id)
            failures.append((id, error))
        case .verifying(let id, let bytes, let total):
            verifying.show(id, bytes, of: total, fraction: work.fraction)
        case .planned: break
        }
    }

    /// Clears the line before other output.
    func clear() {
        fetching.clear()
        opening.clear()
        verifying.clear()
    }

    /// Clears the line, and prints what did not change in one, however many packs it is about.
    mutating func finish() {
        clear()
        guard let first = upToDate.first else { return }
        Console.note(
            "up to date  \(upToDate.count == 1 ? first.description : upToDate.count.counting("pack"))")
        upToDate = []
    }

    private mutating func end(_ id: PackID) {
        clear()
        fetching.end(id)
        opening.end(id)
        verifying.end(id)
        downloading.remove(id)
        failures.removeAll { $0.id == id }
        upToDate.remove(id)
        hasPrintedNothing = false
    }

    private mutating func printState(_ state: PackState, of id: PackID) {
        let missingKey = locked.first { $0.id == id }?.error.problem
        if let missing = awaitingSet.removeValue(forKey: id) {
            let place = state == .toBeTransferred ? "its new version is ready, and" : "it"
            return Console.note(
                "waits  \(id): \(place) is used only together with \(missing), which is missing")
        }
        switch state {
        case .toBeTransferred:
            let (place, reason) = ("it waits in shared storage", "it waits in shared storage for its key")
            // Said of the pack before, in place of an error that says which key is missing.
            let error = missingKey == reason ? nil : missingKey
            Console.note("verified  \(id): \(error.map { "\(place): \($0)" } ?? reason)")
            guard missingKey == nil else { return }
            noteLocked(
                id,
                VaultError(
                    .key, reason, at: id.description,
                    remedy: "give a source of keys, such as --keys file:vault.jwks"))
        case _ where missingKey != nil:
            let what = state == .loaded ? "what is loaded stays" : "not downloaded"
            Console.note("locked  \(id): \(what): \(missingKey ?? "")")
        case _ where deferred.remove(id) != nil:
            Console.note("deferred  \(id): the network is metered, and it is not asked for by name")
        case .loaded:
            guard changing.remove(id) != nil else {
                upToDate.insert(id)
                return
            }
            loaded.append(id)
            Console.note("loaded  \(id)")
        case .absent:
            removed.append(id)
            Console.note("removed  \(id)")
        case .downloading: Console.note("left  \(id): the app downloads it")
        default: break
        }
    }

    private mutating func noteLocked(_ id: PackID, _ error: VaultError) {
        locked.removeAll { $0.id == id }
        locked.append((id, error))
    }

    /// Without Range requests updates are large.
    private mutating func printSentWhole(_ id: PackID) {
        guard let file = sentWhole.removeValue(forKey: id) else { return }
        Console.note(
            "whole  \(id): the host sends no parts of files, so all of it is sent: \(file)")
    }

    /// The same for packs without a final update.
    mutating func printSentWhole() {
        for id in sentWhole.keys.sorted() { printSentWhole(id) }
    }

    /// Prints what a run received that finished a download. Nothing is received from a folder.
    mutating func printReceived(_ bytes: UInt64) {
        guard hasDownloaded, bytes > 0 else { return }
        clear()
        Console.note("received  \(Bar.size(bytes)), metadata included")
    }

    private static let skippedLimit = 4

    /// Prints the first packs that this release can't read, and the number of the others.
    mutating func printSkipped(_ skipped: [SkippedPack]) {
        guard !skipped.isEmpty else { return }
        clear()
        hasPrintedNothing = false
        for pack in skipped.prefix(Self.skippedLimit) {
            Console.note("skipped  \(pack.path): \(pack.reason)")
        }
        let rest = skipped.count - Self.skippedLimit
        if rest > 0 { Console.note("skipped  \(rest.counting("more pack")) that this release can't read") }
    }
}
