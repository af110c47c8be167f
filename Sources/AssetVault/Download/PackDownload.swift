import SealedPack
import VaultConcurrency
import VaultErrors
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
    /// Whether another process continued the download while this one was stalled.
    var isTakenOver: @Sendable () async throws(VaultError) -> Bool = { false }
    private let clock = StallClock()

    var pack: PackManifest { file.pack }

    /// Completes the file and returns it, saved, under its final name in ephemeral storage, locked as long as it is
    /// open. On failure the partial download stays for the next attempt. Throws `.busy` when another process needs it.
    ///
    /// - Parameter lockedFile: the file of the download; the caller has its lock.
    mutating func complete(
        _ lockedFile: OpenFileReference, progress report: (UInt64) -> Void
    ) async throws(VaultError) -> OpenFileReference {
        let clock = clock
        func progress(_ count: UInt64) {
            clock.noteProgress()
            report(count)
        }
        var assembly = try PackAssembly(lockedFile, of: pack)
        _ = try await assembly.verifyTail()
        progress(assembly.presentLength)
        while true {
            try await requireOwnership()
            if !assembly.isTailUnverified, let reusable {
                self.reusable = nil
                var others = await reusable.sources(with: try assembly.missingPieces())
                try await assembly.reuse(from: { others.next() }, progress: progress)
            }
            guard let wanted = try assembly.wanted() else { break }
            let before = assembly.receivedLength
            try budget.takeRequest()
            do throws(TransferFailure) {
                let answer = try await ask(for: wanted, of: assembly)
                try await take(answer, for: wanted, into: &assembly, progress: progress)
                noteProgress(of: assembly, receivedBefore: before)
            } catch {
                try await recover(from: error, in: &assembly, receivedBefore: before)
            }
        }
        do throws(VaultError) { _ = try assembly.finish() } catch {
            // Unsaved bytes can still be read, and a second attempt to save them would report success.
            try? FileSystem.removeFile(lockedFile.file.path)
            throw error
        }
        StagingStep.downloadVerified.reached()
        let finished = try file.finish(lockedFile)
        StagingStep.downloadNamed.reached()
        return finished
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
