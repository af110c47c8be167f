import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem
import VaultTransport

/// Downloads one pack to ephemeral storage and verifies it piece by piece: the tail first (index and catalog), then the
/// pieces that other packs of the store have, then the missing ones from the host. Targets are named by their digest
/// and never change, so any mirror may send any part at any time.
struct PackDownload {
    let transport: any Transport
    let file: DownloadFile
    var sources: DownloadSources
    var budget: TransferBudget
    let observer: Observer
    /// Where some of its pieces may be; nil when these were copied.
    var reusable: ReusablePieces?
    /// Makes disk space for the sealed file of a pack that was expected to be opened as it comes.
    var makeSpace: @Sendable (UInt64) async throws(VaultError) -> Void = { _ in }
    /// Begins the tree that the pack is opened into; nil where it stays sealed for now.
    var beginTree: @Sendable (OpenPack, TreeBasis?) async throws(VaultError) -> ArrivingTree? = { _, _ in nil
    }
    /// Whether another process continued the download while this one was stalled.
    var isTakenOver: @Sendable () async throws(VaultError) -> Bool = { false }
    private let clock = StallClock()

    var pack: PackManifest { file.pack }

    /// Completes the file. A whole one is saved, under its final name in ephemeral storage; it is locked as long as it is
    /// open. On failure the partial download stays for the next attempt. Throws `.busy` when another process needs it.
    ///
    /// - Parameter lockedFile: the file of the download; the caller has its lock.
    mutating func complete(
        _ lockedFile: OpenFileReference, progress report: (UInt64) -> Void
    ) async throws(VaultError) -> ArrivedPack {
        let clock = clock
        func progress(_ count: UInt64) {
            clock.noteProgress()
            report(count)
        }
        var assembly = try PackAssembly(lockedFile, of: pack)
        var rest = ArrivedPack.Rest.nowhere(nil)
        _ = try await assembly.verifyTail()
        // The progress of a pack that is opened as it comes includes the pieces of its tree: it is reported once these are known.
        if reusable?.basis == nil || assembly.isTailUnverified { progress(assembly.presentLength) }
        let download = self
        try await fill(&assembly, progress: progress) { reusable, assembly throws(VaultError) in
            rest = try await download.beginResting(reusable, &assembly)
            progress(assembly.presentLength)
        }
        let (basis, arriving) = rest.trees
        let arrived = ArrivedPack(lockedFile, resting: assembly.isPartial ? rest : .nowhere(basis))
        // A file whose pieces go into a tree is removed afterwards, so it is not saved.
        if arrived.isWhole || basis == nil && arriving == nil {
            do throws(VaultError) { _ = try assembly.finish() } catch {
                // Unsaved bytes can still be read, and a second attempt to save them would report success.
                try? FileSystem.removeFile(lockedFile.file.path)
                throw error
            }
        }
        StagingStep.downloadVerified.reached()
        guard arrived.isWhole else { return arrived }
        let finished = try file.finish(lockedFile)
        StagingStep.downloadNamed.reached()
        return ArrivedPack(finished, resting: arrived.rest)
    }

    /// Brings index and catalog, and then the pieces that are wanted: from other packs of the store, else from the host.
    ///
    /// - Parameter begin: called once with the packs of the store, after the tail is verified and before pieces are brought; it may leave
    ///   some out.
    mutating func fill(
        _ assembly: inout PackAssembly, progress: (UInt64) -> Void = { _ in },
        begin: (ReusablePieces, inout PackAssembly) async throws(VaultError) -> Void = { _, _ in }
    ) async throws(VaultError) {
        while true {
            try await requireOwnership()
            if !assembly.isTailUnverified, let reusable {
                self.reusable = nil
                try await begin(reusable, &assembly)
                let others = reusable.sources(with: try assembly.missingPieces())
                try await assembly.reuse(from: others, progress: progress)
            }
            guard try assembly.wanted() != nil else { return }
            try await transfer(into: &assembly, progress: progress)
        }
    }

    /// Runs once the tail is verified. Excludes the pieces that are already here from the download. With a key, opens the other pieces as
    /// they arrive.
    private func beginResting(
        _ reusable: ReusablePieces, _ assembly: inout PackAssembly
    ) async throws(VaultError) -> ArrivedPack.Rest {
        switch try await reusable.rest(&assembly, isArriving: false) {
        case .file(let bases):
            try await makeSpace(pack.length - min(pack.length, assembly.presentLength))
            return bases.map { .inFiles($0) } ?? .inTrees(nil, nil)
        case .trees(let basis, let source, let missing):
            guard assembly.hasMissingPieces else { return .inTrees(basis, nil) }
            if let tree = try await beginTree(source, basis) {
                assembly.open(into: tree.writer)
                return .inTrees(basis, tree)
            }
            // A stalled process may have begun the tree.
            let more = try await reusable.leaveOut(of: &assembly, source, missing: missing, isArriving: true)
            return .inTrees(more, nil)
        }
    }

    /// The file at the mirror that is asked next.
    var remote: RemoteFile {
        RemoteFile(
            sources.location, of: pack.id.description, length: pack.length, transport: transport,
            remedy: "try another mirror or report it to the publisher", meter: sources.meter)
    }

    /// Requests what is wanted, the tail alone and then pieces. On far lines most of the time passes between a request and its response,
    /// so the next ones are made meanwhile. Ends at the first failure, and recovers from it.
    private mutating func transfer(
        into assembly: inout PackAssembly, progress: (UInt64) -> Void
    ) async throws(VaultError) {
        let remote = remote
        var requests = try assembly.requests()
        var isFirst = true
        var before = assembly.receivedLength
        var failure: TransferFailure?
        do throws(VaultError) {
            try await runInOrder(
                width: Self.requestsAtOnce, budget: Self.bytesAtOnce, limit: nil,
                next: { () throws(VaultError) -> NextInput<PartRequest> in
                    guard isFirst || (sources.answersSeveral && sources.supportsRanges),
                        let wanted = requests.next()
                    else { return .end }
                    isFirst = false
                    try budget.takeRequest()
                    return .input(PartRequest(wanted, isForAll: asksForAll(of: assembly)))
                },
                memory: { $0.wanted.count },
                work: { part throws(VaultError) in await part.answer(from: remote) },
                deliver: { answer throws(VaultError) in
                    // Where a host sent the whole file for one part, the others are not read.
                    guard try assembly.wanted() != nil else { return }
                    before = assembly.receivedLength
                    do throws(TransferFailure) {
                        try await take(answer, into: &assembly, progress: progress)
                    } catch {
                        failure = error
                        throw error.error
                    }
                    noteProgress(of: assembly, receivedBefore: before)
                })
        } catch {
            guard let failure else { throw error }
            try await recover(from: failure, in: &assembly, receivedBefore: before)
        }
    }

    /// Waits, and chooses another mirror if needed.
    mutating func recover(
        from failure: TransferFailure, in assembly: inout PackAssembly, receivedBefore before: UInt64
    ) async throws(VaultError) {
        // The tail may have been complete before the transfer failed.
        _ = try await assembly.verifyTail()
        noteProgress(of: assembly, receivedBefore: before)
        let sender = sources.location
        let delay = try sources.recover(from: failure)
        if sources.location != sender { assembly.changeSender() }
        try await pause(for: delay, at: pack.id.description)
    }

    /// Throws `.busy` where this process was stalled and another one continued.
    func requireOwnership() async throws(VaultError) {
        guard clock.mayHaveStalled, try await isTakenOver() else { return }
        throw VaultError(
            .busy, "another process went on with the download of '\(pack.id)'",
            at: sources.location.description, remedy: "nothing needs to be done")
    }

    private mutating func noteProgress(of assembly: borrowing PackAssembly, receivedBefore before: UInt64) {
        let count = assembly.receivedLength
        if count > before { sources.noteProgress(count - before) }
    }
}

/// Requests of a download, and whether the responses match them.
extension PackDownload {
    /// Concurrent requests. Three to four saturate a line of 100 Mbit/s with a round trip of 50 ms; more gain little.
    private static let requestsAtOnce = 4
    /// Bytes of these requests, which are requested again if the process ends; a larger part is requested alone.
    private static let bytesAtOnce = 512 << 10
    /// A response that takes longer comes over a slow line, of less than 2 Mbit/s: several would delay each other until they time out.
    private static let slowResponse = Duration.seconds(2)

    private func asksForAll(of assembly: borrowing PackAssembly) -> Bool {
        !sources.supportsRanges
            || assembly.isEmpty
                && assembly.prefersSingleRequest(hasReusablePacks: reusable?.hasSources ?? false)
    }

    /// Processes the response to a request.
    mutating func take(
        _ answer: PartRequest.Answer, into assembly: inout PackAssembly, progress: (UInt64) -> Void
    ) async throws(TransferFailure) {
        let content = try answer.content.get()
        let start = ContinuousClock.now
        do throws(VaultError) {
            let isWhole = content.range == 0..<pack.length
            if isWhole, !answer.request.isForAll { sources.supportsRanges = false }
            if isWhole, assembly.isTailUnverified { try await makeSpace(pack.length) }
            try await requireOwnership()
            try await receive(content.body, of: content.range, into: &assembly, progress: progress)
            if ContinuousClock.now - start > Self.slowResponse { sources.answersSeveral = false }
            let wasTailUnverified = assembly.isTailUnverified
            guard try await assembly.verifyTail() else {
                throw refusal("the index or the catalog has the wrong digest")
            }
            if wasTailUnverified, !assembly.isTailUnverified { StagingStep.tailVerified.reached() }
            // A host that sends only zeros leaves a hole, so the same bytes are still missing.
            guard try assembly.wanted() != answer.request.wanted else {
                throw refusal("none of the requested bytes were received")
            }
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
        // A captive portal's page is refused here, before anything is written.
        if position == 0, !PackFile.mayBegin(with: bytes) {
            throw refusal("the host sent something that is not a pack; a login page may stand in the way")
        }
        if position == 0, !sources.supportsRanges { observer(.sentWhole(pack.id, sources.location)) }
        guard UInt64(bytes.count) <= range.upperBound - position else {
            throw refusal("more bytes than the \(range.count) declared")
        }
    }

    private func refusal(_ problem: String) -> VaultError {
        VaultError(
            .corrupt, problem, at: sources.location.description,
            remedy: "try another mirror or report it to the publisher")
    }
}

/// A request for bytes of a pack.
struct PartRequest: Sendable {
    let wanted: Range<UInt64>
    /// Whether the whole file is requested, since the host sends no parts or since that costs less.
    let isForAll: Bool

    init(_ wanted: Range<UInt64>, isForAll: Bool) { (self.wanted, self.isForAll) = (wanted, isForAll) }

    struct Answer: Sendable {
        let request: PartRequest
        let content: Result<RemoteFile.Content, TransferFailure>
    }

    func answer(from remote: RemoteFile) async -> Answer {
        do throws(TransferFailure) {
            return Answer(request: self, content: .success(try await remote.open(isForAll ? nil : wanted)))
        } catch {
            return Answer(request: self, content: .failure(error))
        }
    }
}
