package import VaultBase

/// Limits of the bytes and requests of one transfer, whatever the hosts answer: about twice the file's length. What has arrived stays for the
/// next attempt, which has a budget of its own.
package struct TransferBudget {
    private let place: String
    private let maximumBytes: UInt64
    private let maximumRequests: UInt64
    private var bytes: UInt64 = 0
    private var requests: UInt64 = 0

    /// In addition: an index that is fetched again, pages of captive portals, the failures of a small file.
    private static let (spareBytes, spareRequests): (UInt64, UInt64) = (1 << 20, 64)
    /// The size of the parts of a file that has none of its own.
    private static let partSize: UInt64 = 128 << 10

    /// - Parameters:
    ///   - place: in errors.
    ///   - parts: the number of parts that may be asked for by themselves; nil for a file without pieces.
    package init(of place: String, length: UInt64, parts: UInt64? = nil) {
        self.place = place
        maximumBytes = Self.twice(length, and: Self.spareBytes)
        maximumRequests = Self.twice(parts ?? length / Self.partSize + 1, and: Self.spareRequests)
    }

    private static func twice(_ count: UInt64, and spare: UInt64) -> UInt64 {
        count.saturatingAdding(count).saturatingAdding(spare)
    }

    /// Counts a request that is about to be made.
    package mutating func takeRequest() throws(VaultError) {
        requests += 1
        guard requests <= maximumRequests else { throw exceeded("\(maximumRequests) requests") }
        guard bytes <= maximumBytes else { throw exceeded("\(maximumBytes) bytes") }
    }

    /// Counts received bytes.
    package mutating func take(_ count: Int) throws(VaultError) {
        bytes.saturatingAdd(UInt64(count))
        guard bytes <= maximumBytes else { throw exceeded("\(maximumBytes) bytes") }
    }

    private func exceeded(_ amount: String) -> VaultError {
        VaultError(
            .unavailable, "it is incomplete after \(amount), twice what it needs", at: place,
            remedy: "try again, which continues the transfer, or use another mirror")
    }
}
