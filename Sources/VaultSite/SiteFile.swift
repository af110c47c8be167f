public import VaultErrors
public import VaultTransport

/// One file of a site whose length is known, read in parts; where the host fails, again, from where it stopped.
public struct SiteFile: Sendable {
    public let location: SiteLocation
    /// In bytes.
    public let length: UInt64
    private let transport: any Transport

    public init(_ location: SiteLocation, length: UInt64, transport: any Transport) {
        self.location = location
        self.length = length
        self.transport = transport
    }

    /// Hands the bytes of `wanted` to `take` as they arrive, each chunk with its offset in the file. A host that does not
    /// do parts sends all of the file, from its beginning. The bytes are verified by nobody yet.
    ///
    /// - Returns: whether all of the file was sent where a part was asked for.
    /// - Throws: `corrupt` for a file of another length, `unavailable`, and what `take` throws.
    @discardableResult
    public func read(
        _ wanted: Range<UInt64>, take: ([UInt8], _ offset: UInt64) throws(VaultError) -> Void
    ) async throws(VaultError) -> Bool {
        var missing = wanted
        var failures = 0
        var generator = SystemRandomNumberGenerator()
        while !missing.isEmpty {
            let before = missing.count
            do throws(VaultError) {
                switch try await transfer(&missing, take) {
                case .part: continue
                case .whole: return wanted != 0..<length
                case .absent: break
                }
            } catch {
                failures = missing.count < before ? 1 : failures + 1
                guard let pause = RetryPolicy().delay(afterFailures: failures, error, using: &generator)
                else { throw error }
                do { try await Task.sleep(for: pause) } catch {
                    throw VaultError.cancelled(location.description)
                }
                continue
            }
            throw VaultError(
                .unavailable, "the site lists it, but the host does not have it", at: location.description,
                remedy: "upload the publisher's copy of it")
        }
        return false
    }

    private enum Sent {
        case part
        case whole
        case absent
    }

    private func transfer(
        _ missing: inout Range<UInt64>, _ take: ([UInt8], UInt64) throws(VaultError) -> Void
    ) async throws(VaultError) -> Sent {
        var request = TransportRequest(location, limit: length)
        if missing.lowerBound > 0 || missing.upperBound < length {
            request.range =
                missing.upperBound < length
                ? ByteRange(missing.lowerBound...(missing.upperBound - 1)) : ByteRange(missing.lowerBound...)
        }
        switch try await transport.get(request) {
        case .part(let range, let body):
            guard range.total == length else { throw wrongLength(range.total) }
            for try await bytes in body {
                // A part has exactly the bytes that it declares: see `TransportBody`.
                try take(bytes, missing.lowerBound)
                missing = (missing.lowerBound + UInt64(bytes.count))..<missing.upperBound
            }
            return .part
        case .whole(let body):
            if let count = body.length, count != length { throw wrongLength(count) }
            var offset: UInt64 = 0
            for try await bytes in body {
                try take(bytes, offset)
                offset += UInt64(bytes.count)
                let start = min(max(missing.lowerBound, offset), missing.upperBound)
                missing = start..<missing.upperBound
            }
            guard offset == length else { throw wrongLength(offset) }
            return .whole
        case .outOfRange(let total): throw wrongLength(total ?? 0)
        case .busy(let wait): throw .busyHost(location, retryAfter: wait)
        case .absent: return .absent
        }
    }

    private func wrongLength(_ count: UInt64) -> VaultError {
        VaultError(
            .corrupt, "the file has \(count) bytes, not the \(length) signed for",
            at: location.description, remedy: "upload the publisher's copy of it")
    }
}
