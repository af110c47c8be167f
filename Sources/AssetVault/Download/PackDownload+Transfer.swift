import SealedPack
import VaultErrors
import VaultTransport

/// What a download asks for, and whether the answers are to it.
extension PackDownload {
    /// Small parts are asked for several at a time, so that a slow way to the host costs little. Larger ones would wait for
    /// each other until the host gives them up.
    private static let requestsAtOnce = 6
    private static let bytesAtOnce: UInt64 = 512 << 10

    mutating func transfer(
        _ wanted: Range<UInt64>, into assembly: inout PackAssembly, progress: (UInt64) -> Void
    ) async throws(TransferFailure) {
        var ranges = [wanted]
        if sources.takesRanges {
            ranges += assembly.ranges(after: wanted, upTo: Self.requestsAtOnce, bytes: Self.bytesAtOnce)
        }
        let requests = ranges.map { request(for: $0, of: assembly) }
        typealias Numbered = (number: Int, response: Result<TransportResponse, VaultError>)
        let outcome: Result<Void, TransferFailure> = await withTaskGroup(of: Numbered.self) { group in
            for (number, request) in requests.enumerated() {
                group.addTask { [transport] in (number, await Self.response(to: request, by: transport)) }
            }
            var waiting: [Int: Result<TransportResponse, VaultError>] = [:]
            do throws(TransferFailure) {
                for (number, range) in ranges.enumerated() {
                    while waiting[number] == nil, let done = await group.next() {
                        waiting[done.number] = done.response
                    }
                    guard let response = waiting.removeValue(forKey: number) else { break }
                    let answer = try answer(response, to: requests[number])
                    try await take(answer, for: range, into: &assembly, progress: progress)
                }
                return .success(())
            } catch {
                // What else was sent is let go.
                group.cancelAll()
                return .failure(error)
            }
        }
        try outcome.get()
    }

    typealias Answer = (body: TransportBody, range: Range<UInt64>)

    private func request(for wanted: Range<UInt64>, of assembly: borrowing PackAssembly) -> TransportRequest {
        var request = TransportRequest(sources.location, limit: pack.length)
        let isForAll = assembly.isEmpty && assembly.comesAtOnce(besidesOthers: !held.isEmpty)
        if sources.takesRanges, !isForAll {
            request.range = ByteRange(wanted.lowerBound...(wanted.upperBound - 1))
        }
        return request
    }

    /// The body that was sent, and which bytes of the pack it holds.
    mutating func ask(
        for wanted: Range<UInt64>, of assembly: borrowing PackAssembly
    ) async throws(TransferFailure) -> Answer {
        let request = request(for: wanted, of: assembly)
        return try answer(await Self.response(to: request, by: transport), to: request)
    }

    private static func response(
        to request: TransportRequest, by transport: any Transport
    ) async -> Result<TransportResponse, VaultError> {
        do throws(VaultError) { return .success(try await transport.get(request)) } catch {
            return .failure(error)
        }
    }

    private mutating func answer(
        _ result: Result<TransportResponse, VaultError>, to request: TransportRequest
    ) throws(TransferFailure) -> Answer {
        let response: TransportResponse
        do throws(VaultError) { response = try result.get() } catch { throw TransferFailure(error: error) }
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
