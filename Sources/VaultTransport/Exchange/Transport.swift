public import VaultErrors

/// Reads files of a site, wherever it is.
///
/// A transport believes nothing and proves nothing about the bytes: sizes and digests are checked by whoever
/// asked. It doesn't try again by itself; see ``RetryPolicy``.
public protocol Transport: Sendable {
    /// Asks for a file or a part of it; the answer's body is read afterwards, while it arrives.
    ///
    /// - Throws: `.unavailable` when the host can't be reached, fails, or answers what can't be used;
    ///   `.corrupt` when more than the request's limit is declared; `.untrusted` for a host that is not allowed.
    func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse
}

extension VaultError {
    /// What ``TransportResponse/busy(retryAfter:)`` is to those who don't wait.
    public static func busyHost(_ location: SiteLocation, retryAfter: Duration?) -> VaultError {
        let time = retryAfter.map { "in \($0.components.seconds) seconds" } ?? "later"
        return VaultError(
            .unavailable, "the host is busy", at: location.description, remedy: "try again \(time)")
    }
}

extension Transport {
    /// A small file as a whole, such as metadata; nil when there is none.
    ///
    /// - Throws: `.corrupt` when it has more than `limit` bytes, and what ``get(_:)`` throws.
    public func bytes(at location: SiteLocation, limit: Int) async throws(VaultError) -> [UInt8]? {
        let request = TransportRequest(location, limit: UInt64(clamping: limit))
        switch try await get(request) {
        case .whole(let body):
            var bytes: [UInt8] = []
            for try await chunk in body { bytes += chunk }
            return bytes
        case .absent: return nil
        case .busy(let wait): throw .busyHost(location, retryAfter: wait)
        case .part, .outOfRange:
            throw VaultError(
                .unavailable, "a part was sent where the whole was asked for", at: location.description,
                remedy: "have the host send static files unchanged")
        }
    }
}
