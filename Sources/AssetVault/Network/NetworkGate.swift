import SealedPack
import Synchronization
import VaultBase
import VaultTransport

/// Access to the hosts, as far as the app allows it. All received bytes are counted.
struct NetworkGate: Sendable {
    private let base: any Transport
    private let log: TrafficLog
    private let use: @Sendable () -> NetworkPolicy
    private let received = ReceivedBytes()
    private(set) var allowance = TransferAllowance(nil)

    init(
        _ base: any Transport, in store: StoreAccess,
        use: @escaping @Sendable () -> NetworkPolicy = { .unrestricted }
    ) {
        self.base = base
        log = TrafficLog(of: store)
        self.use = use
    }

    /// The same, for packs of one call that may bring no more than this over a metered network.
    func limited(to allowance: TransferAllowance) -> Self {
        var limited = self
        limited.allowance = allowance
        return limited
    }

    /// Bytes that came so far, metadata included.
    var receivedBytes: UInt64 { received.count.withLock { $0 } }

    /// - Parameter pack: what the bytes count for; nil for metadata.
    func transport(for pack: PackID?) -> any Transport {
        let counter = TrafficCounter(of: pack, in: log)
        // Metadata does not count towards the metered allowance.
        let allowance = pack == nil ? TransferAllowance(nil) : allowance
        let place = pack?.description ?? "metadata"
        return ObservedTransport(
            base,
            willAsk: { [use] location throws(VaultError) in
                let use = use()
                guard use != .none else { throw VaultError.noNetwork(location.description) }
                if use == .metered { try allowance.requireRoom(for: 1, at: place) }
            },
            willReceive: { [use] length, _ throws(VaultError) in
                guard use() == .metered else { return }
                try allowance.requireRoom(for: length ?? 1, at: place)
            },
            didReceive: { [use, received] count, location throws(VaultError) in
                let use = use()
                received.count.withLock { $0.saturatingAdd(UInt64(count)) }
                counter.add(count, isMetered: use == .metered)
                guard use != .none else { throw VaultError.noNetwork(location.description) }
                if use == .metered { try allowance.take(count, at: place) }
            })
    }
}

private final class ReceivedBytes: Sendable {
    let count = Mutex<UInt64>(0)
}

/// The rest of the metered allowance of one call; all bytes that hosts send are counted.
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
            received.saturatingAdd(UInt64(count))
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
