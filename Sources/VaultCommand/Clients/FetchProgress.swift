import AssetVault
import SealedPack
import Synchronization
import VaultErrors

/// Prints a client's updates: one bar for each kind of step, and a line for each finished pack. Failures are printed at
/// the end, one line each.
final class FetchProgress: Sendable {
    private let printer = Mutex(UpdatePrinter())

    func show(_ update: StatusUpdate) { printer.withLock { $0.show(update) } }

    var locked: [(id: PackID, error: VaultError)] { printer.withLock { $0.locked } }
    var removed: [PackID] { printer.withLock { $0.removed } }
    var loaded: [PackID] { printer.withLock { $0.loaded } }
    var hasPrintedNothing: Bool { printer.withLock { $0.hasPrintedNothing } }

    func finish() { printer.withLock { $0.clear() } }

    /// Prints a line for each failure but `last`, which the caller prints. Cancelled work has not failed.
    func reportFailures(and others: [VaultError] = [], before last: VaultError) {
        finish()
        var printed = [last]
        for error in printer.withLock({ $0.failures.map(\.error) }) + others
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
            printer.withLock { $0.printSkipped(skipped) }
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
