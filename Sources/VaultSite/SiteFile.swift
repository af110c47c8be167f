public import VaultErrors
public import VaultTransport

/// A file of a site with a known length, read in parts; a failed transfer resumes where it stopped.
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

    /// Passes the bytes of `wanted` to `receive` as they arrive, unverified, each chunk with its offset in the file. A
    /// host without Range support sends the whole file, from its start.
    ///
    /// - Returns: whether the host sent the whole file where a part was requested.
    /// - Throws: `corrupt` for a file of another length, `unavailable`, and what `receive` throws.
    @discardableResult
    public func read(
        _ wanted: Range<UInt64>, receive: ([UInt8], _ offset: UInt64) throws(VaultError) -> Void
    ) async throws(VaultError) -> Bool {
        var missing = wanted
        var failures = 0
        var generator = SystemRandomNumberGenerator()
        while !missing.isEmpty {
            let before = missing.count
            do throws(VaultError) {
                switch try await transfer(&missing, receive) {
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

    private enum Outcome {
        case part
        case whole
        case absent
    }

    private func transfer(
        _ missing: inout Range<UInt64>, _ receive: ([UInt8], UInt64) throws(VaultError) -> Void
    ) async throws(VaultError) -> Outcome {
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
                // `TransportBody` enforces the declared length of a part.
                try receive(bytes, missing.lowerBound)
                missing = (missing.lowerBound + UInt64(bytes.count))..<missing.upperBound
            }
            return .part
        case .whole(let body):
            if let declared = body.length, declared != length { throw wrongLength(declared) }
            var offset: UInt64 = 0
            for try await bytes in body {
                try receive(bytes, offset)
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

    private func wrongLength(_ found: UInt64) -> VaultError {
        VaultError(
            .corrupt, "the file has \(found) bytes, but \(length) are signed",
            at: location.description, remedy: "upload the publisher's copy of it")
    }
}
