public import VaultErrors

/// Reads the files of a site.
///
/// A transport verifies nothing: the caller checks sizes and digests. It does not retry; see ``RetryPolicy``.
public protocol Transport: Sendable {
    /// Requests a file or a part of it; the body of the response is read while it arrives.
    ///
    /// - Throws: `.unreachable`, `.unavailable` when the host fails or sends an unusable response; `.corrupt` when
    ///   the declared length is over the request's limit; `.untrusted` for a host that is not allowed.
    func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse
}

extension VaultError {
    /// The error for ``TransportResponse/busy(retryAfter:)`` where the caller doesn't wait.
    public static func busyHost(_ location: SiteLocation, retryAfter: Duration?) -> VaultError {
        let time = retryAfter.map { "in \($0.components.seconds) seconds" } ?? "later"
        return VaultError(
            .unavailable, "the host is busy", at: location.description, remedy: "try again \(time)")
    }
}

extension Transport {
    /// A whole small file, such as metadata; nil when it does not exist. A host that fails is asked again.
    ///
    /// - Parameters:
    ///   - meter: shared by all requests of one transfer.
    ///   - retries: when a failing host is asked again; nil for never.
    /// - Throws: `.corrupt` when it has more than `limit` bytes, and what ``get(_:)`` throws.
    public func bytes(
        at location: SiteLocation, limit: Int, meter: ThroughputMeter = ThroughputMeter(),
        retries: RetryPolicy? = nil
    ) async throws(VaultError) -> [UInt8]? {
        var failures = 0
        while true {
            do throws(TransferFailure) {
                return try await bytesOnce(at: location, limit: limit, meter: meter)
            } catch {
                failures += 1
                // Without a connection the caller gets its error at once.
                guard let retries, error.error.category != .unreachable else { throw error.error }
                meter.count(pause: error.retryAfter ?? .zero)
                try await retries.wait(after: error, failures: failures, at: location)
            }
        }
    }

    private func bytesOnce(
        at location: SiteLocation, limit: Int, meter: ThroughputMeter
    ) async throws(TransferFailure) -> [UInt8]? {
        var request = TransportRequest(location, limit: UInt64(clamping: limit))
        request.meter = meter
        let failure: TransferFailure
        do throws(VaultError) {
            switch try await get(request) {
            case .whole(let body):
                var bytes: [UInt8] = []
                for try await chunk in body { bytes += chunk }
                return bytes
            case .absent: return nil
            case .busy(let wait):
                failure = TransferFailure(.busyHost(location, retryAfter: wait), retryAfter: wait)
            case .part, .outOfRange:
                throw VaultError(
                    .unavailable, "the host sent a part instead of the whole file", at: location.description,
                    remedy: "have the host send static files unchanged")
            }
        } catch {
            failure = TransferFailure(error)
        }
        throw failure
    }
}

/// A site's response. Every other response is an error.
public enum TransportResponse: Sendable {
    /// The whole file (200), also where a part was requested and the host does not support ranges.
    case whole(TransportBody)
    /// Exactly the requested part, up to the end of the file (206).
    case part(ContentRange, TransportBody)
    /// No such file: 404, 410, or 403, which object stores send for a missing object.
    case absent
    /// The part begins after the end of the file (416); `total` is the file's size if the host sent it.
    case outOfRange(total: UInt64?)
    /// The host is busy (503), or limits this client (429); `retryAfter` is the wait that it requested, if any.
    case busy(retryAfter: Duration?)
}
