import SealedPack
import VaultErrors
import VaultTransport

/// The way to the hosts: as far as the app allows it, and with all that comes counted.
struct NetworkAccess: Sendable {
    private let base: any Transport
    private let log: TrafficLog
    private let use: @Sendable () -> NetworkUse
    private(set) var allowance = TransferAllowance(nil)

    init(
        _ base: any Transport, in store: StoreAccess,
        use: @escaping @Sendable () -> NetworkUse = { .unrestricted }
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

    /// - Parameter pack: what the bytes count for; nil for metadata.
    func transport(for pack: PackID?) -> any Transport {
        let counter = TrafficCounter(of: pack, in: log)
        // Metadata come whatever is allowed for packs.
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
            didReceive: { [use] count, location throws(VaultError) in
                let use = use()
                counter.add(count, isMetered: use == .metered)
                guard use != .none else { throw VaultError.noNetwork(location.description) }
                if use == .metered { try allowance.take(count, at: place) }
            })
    }
}
