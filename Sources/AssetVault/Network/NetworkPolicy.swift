import VaultBase

/// The network use that the app allows; see ``VaultClient/network``.
public enum NetworkPolicy: String, Sendable, CaseIterable {
    /// All requested packs are downloaded.
    case unrestricted
    /// The network is metered: packs that are neither essential nor requested by a tag or a name wait until it is not.
    case metered
    /// Nothing is sent.
    case none

    func admits(_ need: NetworkNeed) -> Bool {
        switch need {
        case .noNetwork: true
        case .anyNetwork: self != .none
        case .unmeteredNetwork: self == .unrestricted
        }
    }
}

/// What the work on a pack needs of the network.
enum NetworkNeed: Sendable {
    /// Nothing is downloaded.
    case noNetwork
    case anyNetwork
    /// It can wait for a network that is not metered.
    case unmeteredNetwork
}

extension VaultError {
    static func noNetwork(_ place: String) -> VaultError {
        VaultError(
            .unreachable, "the app allows no network", at: place,
            remedy: "allow a network, or use the loaded version")
    }

    static func metered(_ place: String) -> VaultError {
        VaultError(
            .unreachable, "the network is metered, and the pack was not requested", at: place,
            remedy: "request it, or fetch it over another network")
    }
}
