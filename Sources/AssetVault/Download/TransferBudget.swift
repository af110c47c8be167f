import SealedPack
import VaultErrors

/// Limits of the bytes and requests of one download, whatever the hosts answer: about twice the pack's length. The
/// partial download stays for the next attempt, which has a budget of its own.
struct TransferBudget {
    private let name: PackID
    private let maximumBytes: UInt64
    private let maximumRequests: UInt64
    private var bytes: UInt64 = 0
    private var requests: UInt64 = 0

    /// In addition: an index that is fetched again, pages of captive portals, the failures of a small pack.
    private static let (spareBytes, spareRequests): (UInt64, UInt64) = (1 << 20, 64)

    init(of pack: PackManifest) {
        name = pack.id
        maximumBytes = 2 * pack.length + Self.spareBytes
        maximumRequests = 2 * UInt64(pack.pieceCount) + Self.spareRequests
    }

    /// Counts a request that is about to be made.
    mutating func takeRequest() throws(VaultError) {
        requests += 1
        guard requests <= maximumRequests else { throw exceeded("\(maximumRequests) requests") }
        guard bytes <= maximumBytes else { throw exceeded("\(maximumBytes) bytes") }
    }

    /// Counts received bytes.
    mutating func take(_ count: Int) throws(VaultError) {
        bytes += UInt64(count)
        guard bytes <= maximumBytes else { throw exceeded("\(maximumBytes) bytes") }
    }

    private func exceeded(_ amount: String) -> VaultError {
        VaultError(
            .unavailable, "the pack did not come within \(amount), twice what it takes", at: name.description,
            remedy: "try again, which goes on with what came, or use another mirror")
    }
}
