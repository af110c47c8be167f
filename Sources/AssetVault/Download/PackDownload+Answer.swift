import SealedPack
import VaultErrors
import VaultTransport

/// Processing the response to a request.
extension PackDownload {
    mutating func take(
        _ answer: Answer, for wanted: Range<UInt64>, into assembly: inout PackAssembly,
        progress: (UInt64) -> Void
    ) async throws(TransferFailure) {
        do throws(VaultError) {
            try await receive(answer.body, of: answer.range, into: &assembly, progress: progress)
            let wasUnverified = assembly.isUnverified
            guard try await assembly.verifyTail() else {
                throw refusal("the index or the catalog has the wrong digest")
            }
            if wasUnverified, !assembly.isUnverified { StagingStep.tailVerified.reached() }
            // Zeros look like a hole in the file.
            guard try assembly.wanted() != wanted else { throw refusal("nothing of what was asked for came") }
        } catch {
            throw TransferFailure(error: error)
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

    func wrongLength(_ count: UInt64) -> VaultError {
        refusal("the file has \(count) bytes, not the \(pack.length) declared")
    }

    private func refusal(_ problem: String) -> VaultError {
        VaultError(
            .corrupt, problem, at: sources.location.description,
            remedy: "try another mirror or tell the publisher")
    }
}
