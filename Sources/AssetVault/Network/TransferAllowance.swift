import Synchronization
import VaultErrors

/// What is left of the bytes of packs that may come over a metered network in one call, whatever the hosts send.
final class TransferAllowance: Sendable {
    /// In bytes; nil for no limit.
    private let limit: UInt64?
    private let received = Mutex<UInt64>(0)

    init(_ limit: UInt64?) { self.limit = limit }

    /// Nil for no limit.
    var left: UInt64? { limit.map { limit in limit - min(limit, received.withLock { $0 }) } }

    /// Throws `.limit` where fewer bytes are left, before any of them comes.
    func requireRoom(for count: UInt64, at place: String) throws(VaultError) {
        guard let limit else { return }
        let left = left ?? limit
        guard count > left else { return }
        throw exceeded(limit, by: count - left, at: place)
    }

    /// Counts received bytes. Throws `.limit` where more have come than may.
    func take(_ count: Int, at place: String) throws(VaultError) {
        guard let limit else { return }
        let sum = received.withLock { received in
            received += min(UInt64(count), .max - received)
            return received
        }
        if sum > limit { throw exceeded(limit, by: sum - limit, at: place) }
    }

    private func exceeded(_ limit: UInt64, by count: UInt64, at place: String) -> VaultError {
        VaultError(
            .limit, "the host would send more than the \(limit) bytes that may come over a metered network",
            at: place, remedy: "use another network, or raise the allowance", missingBytes: count)
    }
}
