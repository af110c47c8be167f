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

    public init(
        _ location: SiteLocation, of name: String, length: UInt64, transport: any Transport, remedy: String
    ) {
        self.location = location
        self.name = name
        self.length = length
        self.transport = transport
        self.remedy = remedy
    }

    /// What a host sends: the bytes of `range`, which may be another one than was asked for.
    public typealias Content = (body: TransportBody, range: Range<UInt64>)

    /// Asks for a part, or for the whole file where `part` is nil. A host without support for Range requests sends the whole.
    ///
    /// - Parameter meter: shared by all requests of one transfer.
    public func open(
        _ part: Range<UInt64>?, meter: ThroughputMeter = ThroughputMeter()
    ) async throws(TransferFailure) -> Content {
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
    /// - Throws: `corrupt` for a file of another length, `unavailable`, and what `take` throws.
    @discardableResult
    public func read(
        _ wanted: Range<UInt64>, take: ([UInt8], _ offset: UInt64) throws(VaultError) -> Void
    ) async throws(VaultError) -> Bool {
        var missing = wanted
        var failures = 0
        while !missing.isEmpty {
            let before = missing.count
            do throws(TransferFailure) {
                if try await transfer(&missing, take) { return wanted != 0..<length }
            } catch {
                failures = missing.count < before ? 1 : failures + 1
                try await RetryPolicy().wait(after: error, failures: failures, at: location)
            }
        }
        return false
    }

    /// One request for what is missing. True when the host sent the whole file.
    private func transfer(
        _ missing: inout Range<UInt64>, _ take: ([UInt8], UInt64) throws(VaultError) -> Void
    ) async throws(TransferFailure) -> Bool {
        let isAll = missing == 0..<length
        let (body, range) = try await open(isAll ? nil : missing)
        var position = range.lowerBound
        do throws(VaultError) {
            for try await bytes in body {
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

/// Why a transfer ended early.
public struct TransferFailure: Error {
    public let error: VaultError
    /// Whether the same host would give the same answer again.
    public let isLasting: Bool
    /// How long the host asks to wait.
    public let retryAfter: Duration?

    public init(_ error: VaultError, isLasting: Bool = false, retryAfter: Duration? = nil) {
        self.error = error
        self.isLasting = isLasting
        self.retryAfter = retryAfter
    }
}

/// When to retry a failed transfer: exponential backoff with jitter, so that the clients of a host that recovers don't
/// all return at once.
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, the first included.
    public var attempts: Int = 5
    /// The maximum backoff before the second attempt; it doubles with each further one.
    public var firstBackoff: Duration = .milliseconds(500)
    /// The maximum backoff; a wait that the host requested is added to it.
    public var longestBackoff: Duration = .seconds(30)
    /// The maximum wait that a host may request; more ends the attempts.
    public var longestRequestedWait: Duration = .seconds(120)

    public init() {}

    /// The wait before the next attempt; nil when none should be made.
    ///
    /// - Parameters:
    ///   - failures: The number of failed attempts, this one included.
    ///   - retryAfter: The wait that the host requested; the backoff is added to it.
    public func delay(
        afterFailures failures: Int, _ error: VaultError, retryAfter: Duration? = nil,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        let requested = retryAfter ?? .zero
        guard Self.isWorthRetrying(error), failures < attempts, requested <= longestRequestedWait
        else { return nil }
        let doublings = max(0, min(failures - 1, 30))
        let longest = min(firstBackoff * (1 << doublings), longestBackoff)
        return requested + longest * Double.random(in: 0.5...1, using: &generator)
    }

    /// Waits before the next attempt. Throws the failure where none should be made, and when the task is cancelled.
    ///
    /// - Parameter failures: the number of failed attempts, this one included.
    package func wait(after failure: TransferFailure, failures: Int, at location: SiteLocation)
        async throws(VaultError)
    {
        var generator = SystemRandomNumberGenerator()
        guard !failure.isLasting,
            let pause = delay(
                afterFailures: failures, failure.error, retryAfter: failure.retryAfter, using: &generator)
        else { throw failure.error }
        do { try await Task.sleep(for: pause) } catch { throw VaultError.cancelled(location.description) }
    }

    /// Whether another attempt may succeed: only where the host or the network failed.
    public static func isWorthRetrying(_ error: VaultError) -> Bool {
        error.category == .unavailable || error.category == .unreachable
    }
}
