public import VaultBase

/// A file at a host, with a signed length. Its bytes are not verified here.
public struct RemoteFile: Sendable {
    public let location: SiteLocation
    /// In bytes.
    public let length: UInt64
    private let transport: any Transport
    /// What errors call the file: a pack's ID, or a path.
    private let name: String
    /// What to do about a file that is missing or has another length.
    private let remedy: String
    /// Of all requests; others may share it.
    private let meter: ThroughputMeter

    public init(
        _ location: SiteLocation, of name: String, length: UInt64, transport: any Transport, remedy: String,
        meter: ThroughputMeter = ThroughputMeter()
    ) {
        self.location = location
        self.meter = meter
        self.name = name
        self.length = length
        self.transport = transport
        self.remedy = remedy
    }

    /// What a host sends: the bytes of `range`, which may be another one than was asked for.
    public typealias Content = (body: TransportBody, range: Range<UInt64>)

    /// Asks for a part, or for the whole file where `part` is nil. A host without support for Range requests sends the whole.
    public func open(_ part: Range<UInt64>?) async throws(TransferFailure) -> Content {
        var request = TransportRequest(location, limit: length)
        request.meter = meter
        if let part { request.range = ByteRange(part.lowerBound...(part.upperBound - 1)) }
        let response: TransportResponse
        do throws(VaultError) { response = try await transport.get(request) } catch {
            throw TransferFailure(error)
        }
        switch response {
        case .part(let range, let body):
            guard range.total == length else { throw wrongLength(range.total) }
            return (body, range.first..<(range.last + 1))
        case .whole(let body):
            if let found = body.length, found != length { throw wrongLength(found) }
            return (body, 0..<length)
        case .outOfRange(let total): throw wrongLength(total ?? 0)
        case .busy(let status, let wait):
            throw TransferFailure(.busyHost(location, status: status, retryAfter: wait), retryAfter: wait)
        case .absent:
            throw TransferFailure(
                VaultError(
                    .notHosted, "the site lists '\(name)', but the host does not have it",
                    at: location.description, remedy: remedy), isLasting: true)
        }
    }

    /// Passes the bytes of `wanted` to `take` as they arrive, each chunk with its offset in the file. Where the host fails,
    /// it is asked again for the rest.
    ///
    /// - Returns: whether the host sent the whole file where a part was asked for; then `take` gets all of it.
    /// - Throws: `corrupt` for a file of another length, `unavailable`, also for a host that sends much more than is needed, and what
    ///   `take` throws.
    @discardableResult
    public func read(
        _ wanted: Range<UInt64>, take: ([UInt8], _ offset: UInt64) throws(VaultError) -> Void
    ) async throws(VaultError) -> Bool {
        var missing = wanted
        var failures = noFailures
        var budget = TransferBudget(of: location.description, length: length)
        while !missing.isEmpty {
            let before = missing.count
            try budget.takeRequest()
            do throws(TransferFailure) {
                if try await transfer(&missing, within: &budget, take) { return wanted != 0..<length }
            } catch {
                failures.noteFailure(after: UInt64(before - missing.count))
                try await wait(after: error, failures)
            }
        }
        return false
    }

    /// The count at the start of a transfer.
    package var noFailures: HostFailures { HostFailures(meter) }

    /// Waits before the next attempt. Throws the failure where none should be made, and when the task is cancelled.
    package func wait(after failure: TransferFailure, _ failures: HostFailures) async throws(VaultError) {
        try await RetryPolicy().wait(after: failure, failures, at: location)
    }

    /// One request for what is missing. True when the host sent the whole file.
    private func transfer(
        _ missing: inout Range<UInt64>, within budget: inout TransferBudget,
        _ take: ([UInt8], UInt64) throws(VaultError) -> Void
    ) async throws(TransferFailure) -> Bool {
        let isAll = missing == 0..<length
        let (body, range) = try await open(isAll ? nil : missing)
        var position = range.lowerBound
        do throws(VaultError) {
            for try await bytes in body {
                try budget.take(bytes.count)
                try take(bytes, position)
                position += UInt64(bytes.count)
                let start = min(max(missing.lowerBound, position), missing.upperBound)
                missing = start..<missing.upperBound
            }
        } catch {
            throw TransferFailure(error)
        }
        guard range == 0..<length else { return false }
        guard position == length else { throw wrongLength(position) }
        return true
    }

    private func wrongLength(_ found: UInt64) -> TransferFailure {
        TransferFailure(
            VaultError(
                .corrupt, "the file has \(found) bytes, but \(length) are signed",
                at: location.description, remedy: remedy, code: "wrong-length"))
    }
}
