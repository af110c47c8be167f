import SealedPack
import VaultErrors
import VaultTransport

/// Requests of a download, and whether the responses match them.
extension PackDownload {
    /// The body of the response, and the bytes of the pack that it holds.
    mutating func ask(
        for wanted: Range<UInt64>, of assembly: borrowing PackAssembly
    ) async throws(TransferFailure) -> RemoteFile.Content {
        let isForAll =
            assembly.isEmpty && assembly.prefersSingleRequest(hasReusablePacks: reusable?.hasSources ?? false)
        let part = sources.takesRanges && !isForAll ? wanted : nil
        let remote = RemoteFile(
            sources.location, of: pack.id.description, length: pack.length, transport: transport,
            remedy: "try another mirror or tell the publisher")
        let content = try await remote.open(part, meter: sources.meter)
        if part != nil, content.range == 0..<pack.length { sources.takesRanges = false }
        return content
    }

    /// Processes the response to a request.
    mutating func take(
        _ answer: RemoteFile.Content, for wanted: Range<UInt64>, into assembly: inout PackAssembly,
        progress: (UInt64) -> Void
    ) async throws(TransferFailure) {
        do throws(VaultError) {
            try await receive(answer.body, of: answer.range, into: &assembly, progress: progress)
            let wasTailUnverified = assembly.isTailUnverified
            guard try await assembly.verifyTail() else {
                throw refusal("the index or the catalog has the wrong digest")
            }
            if wasTailUnverified, !assembly.isTailUnverified { StagingStep.tailVerified.reached() }
            // Zeros look like a hole in the file.
            guard try assembly.wanted() != wanted else { throw refusal("nothing of what was asked for came") }
        } catch {
            throw TransferFailure(error)
        }
    }

    private mutating func receive(
        _ body: TransportBody, of range: Range<UInt64>, into assembly: inout PackAssembly,
        progress: (UInt64) -> Void
    ) async throws(VaultError) {
        let body = BodyReader(body)
        let download = self
        var position = range.lowerBound
        let wrong: Int
        do throws(VaultError) {
            wrong = try await assembly.receive(
                at: position,
                from: IncomingBytes { () async throws(VaultError) in
                    guard let bytes = try await body.next() else { return nil }
                    try await download.requireOwnership()
                    return bytes
                },
                check: { (bytes: [UInt8]) throws(VaultError) in
                    try budget.take(bytes.count)
                    try check(bytes, at: position, of: range)
                    position += UInt64(bytes.count)
                }, progress: progress)
        } catch {
            throw error.category == .corrupt ? refusal(error.problem) : error
        }
        guard position == range.upperBound else {
            throw VaultError(
                .unavailable, "the file ended after \(position) of \(pack.length) bytes",
                at: sources.location.description, remedy: "try again")
        }
        if wrong > 0 {
            throw refusal("\(wrong == 1 ? "a piece has" : "\(wrong) pieces have") the wrong digest")
        }
    }

    /// Whether the download continues with these bytes.
    private func check(_ bytes: [UInt8], at position: UInt64, of range: Range<UInt64>) throws(VaultError) {
        if Task.isCancelled { throw VaultError.cancelled(pack.id.description) }
        // The page of a captive portal changes nothing on the disk, and is not read further.
        if position == 0, !PackFile.mayBegin(with: bytes) {
            throw refusal("the host sent something that is no pack; a login page may stand in the way")
        }
        if position == 0, !sources.takesRanges { observer(.sentWhole(pack.id, sources.location)) }
        guard UInt64(bytes.count) <= range.upperBound - position else {
            throw refusal("more bytes than the \(range.count) declared")
        }
    }

    private func refusal(_ problem: String) -> VaultError {
        VaultError(
            .corrupt, problem, at: sources.location.description,
            remedy: "try another mirror or tell the publisher")
    }
}

/// A response's body, for a task that reads while another one processes the bytes.
actor BodyReader {
    /// Nil while somebody reads, and after that for nobody else.
    private var body: TransportBody.Iterator?

    init(_ body: TransportBody) { self.body = body.makeAsyncIterator() }

    func next() async throws(VaultError) -> [UInt8]? {
        guard var reading = body.take() else { return nil }
        defer { body = reading }
        return try await reading.next(isolation: self)
    }
}
