import SealedPack
import VaultErrors
import VaultTransport

/// Requests of a download, and whether the responses match them.
extension PackDownload {
    mutating func transfer(
        _ wanted: Range<UInt64>, into assembly: inout PackAssembly, progress: (UInt64) -> Void
    ) async throws(TransferFailure) {
        let answer = try await ask(for: wanted, of: assembly)
        try await take(answer, for: wanted, into: &assembly, progress: progress)
    }

    typealias Answer = (body: TransportBody, range: Range<UInt64>)

    /// The body of the response, and the bytes of the pack that it holds.
    mutating func ask(
        for wanted: Range<UInt64>, of assembly: borrowing PackAssembly
    ) async throws(TransferFailure) -> Answer {
        var request = TransportRequest(sources.location, limit: pack.length)
        request.meter = sources.meter
        let isForAll = assembly.isEmpty && assembly.prefersSingleRequest(hasSources: !held.isEmpty)
        if sources.takesRanges, !isForAll {
            request.range = ByteRange(wanted.lowerBound...(wanted.upperBound - 1))
        }
        let response: TransportResponse
        do throws(VaultError) { response = try await transport.get(request) } catch {
            throw TransferFailure(error: error)
        }
        switch response {
        case .part(let range, let body):
            guard range.total == pack.length else { throw TransferFailure(error: wrongLength(range.total)) }
            return (body, range.first..<(range.last + 1))
        case .whole(let body):
            if let length = body.length, length != pack.length {
                throw TransferFailure(error: wrongLength(length))
            }
            if request.range != nil { sources.takesRanges = false }
            return (body, 0..<pack.length)
        case .outOfRange(let total):
            throw TransferFailure(error: wrongLength(total ?? 0))
        case .busy(let wait):
            throw TransferFailure(
                error: .busyHost(sources.location, retryAfter: wait), retryAfter: wait)
        case .absent:
            throw TransferFailure(
                error: VaultError(
                    .unavailable, "the site lists '\(pack.id)' but does not have it",
                    at: sources.location.description, remedy: "try again later or tell the publisher"),
                isLasting: true)
        }
    }
}
