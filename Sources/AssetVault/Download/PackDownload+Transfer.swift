import SealedPack
import VaultErrors
import VaultTransport

/// One request of a download, and what is made of its answer.
extension PackDownload {
    mutating func transfer(
        _ wanted: Range<UInt64>, into assembly: inout PackAssembly, progress: (UInt64) -> Void
    ) async throws(TransferFailure) {
        let answer = try await ask(for: wanted, of: assembly)
        try await take(answer, for: wanted, into: &assembly, progress: progress)
    }

    typealias Answer = (body: TransportBody, range: Range<UInt64>)

    func take(
        _ answer: Answer, for wanted: Range<UInt64>, into assembly: inout PackAssembly,
        progress: (UInt64) -> Void
    ) async throws(TransferFailure) {
        do throws(VaultError) {
            try await receive(answer.body, of: answer.range, into: &assembly, progress: progress)
            let wasUnproven = assembly.isUnproven
            guard try await assembly.prove() else {
                throw refusal("the index or the catalog has the wrong digest")
            }
            if wasUnproven, !assembly.isUnproven { StagingStep.tailProven.reached() }
            // Zeros look as if nothing had come.
            guard try assembly.wanted() != wanted else { throw refusal("nothing of what was asked for came") }
        } catch {
            throw TransferFailure(error: error)
        }
    }

    /// The body that was sent, and which bytes of the pack it holds.
    mutating func ask(
        for wanted: Range<UInt64>, of assembly: borrowing PackAssembly
    ) async throws(TransferFailure) -> Answer {
        var request = TransportRequest(sources.location, limit: pack.length)
        let isForAll = assembly.isEmpty && assembly.comesAtOnce(besidesOthers: !held.isEmpty)
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

    private func receive(
        _ body: TransportBody, of range: Range<UInt64>, into assembly: inout PackAssembly,
        progress: (UInt64) -> Void
    ) async throws(VaultError) {
        var position = range.lowerBound
        var wrong = 0
        for try await bytes in body {
            if Task.isCancelled { throw VaultError.cancelled(pack.id.description) }
            if let mark = givesWayTo, try mark.isRaised() {
                throw VaultError(
                    .busy, "the app took the download of '\(pack.id)' over", at: sources.location.description,
                    remedy: "nothing needs to be done")
            }
            // The page of a captive portal costs nothing that is there, and is not gone on with.
            if position == 0, !PackFile.mayBegin(with: bytes) {
                throw refusal("the host sent something that is no pack; a login page may stand in the way")
            }
            if position == 0, !sources.takesRanges { observer(.sentWhole(pack.id, sources.location)) }
            guard UInt64(bytes.count) <= range.upperBound - position else {
                throw refusal("more bytes than the \(range.count) declared")
            }
            do throws(VaultError) {
                wrong += try assembly.take(bytes.span, at: position)
            } catch {
                throw error.category == .corrupt ? refusal(error.problem) : error
            }
            position += UInt64(bytes.count)
            progress(assembly.presentCount)
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

    private func wrongLength(_ count: UInt64) -> VaultError {
        refusal("the file has \(count) bytes, not the \(pack.length) declared")
    }

    private func refusal(_ problem: String) -> VaultError {
        VaultError(
            .corrupt, problem, at: sources.location.description,
            remedy: "try another mirror or tell the publisher")
    }
}
