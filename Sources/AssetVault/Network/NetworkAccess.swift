import SealedPack
import VaultErrors
import VaultTransport

/// The way to the hosts: as far as the app allows it, and with all that comes counted.
struct NetworkAccess: Sendable {
    private let base: any Transport
    private let log: TrafficLog
    private let use: @Sendable () -> NetworkUse

    init(
        _ base: any Transport, in store: StoreAccess,
        use: @escaping @Sendable () -> NetworkUse = { .unrestricted }
    ) {
        self.base = base
        log = TrafficLog(of: store)
        self.use = use
    }

    /// - Parameter pack: what the bytes count for; nil for metadata.
    func transport(for pack: PackID?) -> any Transport {
        let counter = TrafficCounter(of: pack, in: log)
        return ObservedTransport(
            base,
            willAsk: { [use] location throws(VaultError) in
                guard use() != .none else { throw VaultError.noNetwork(location.description) }
            },
            didReceive: { [use] count, location throws(VaultError) in
                counter.add(count, isMetered: use() == .metered)
                guard use() != .none else { throw VaultError.noNetwork(location.description) }
            })
    }
}
