import SealedPack
import VaultErrors
import VaultFileSystem
import VaultTransport

/// Brings one pack into ephemeral storage, proven piece by piece: the tail first (index and catalog), then the pieces that
/// other packs of the store have, then from the host whatever is still missing. Targets are named by their digest and never change, so any mirror may send any part at any time.
struct PackDownload {
    let transport: any Transport
    let file: DownloadFile
    var sources: DownloadSources
    var budget: TransferBudget
    let observer: Observer
    /// Packs that may have some of its pieces; let go when these were taken.
    var held: [any PieceSource] = []
    /// Whether somebody went on with the pack while this process stood still.
    var isTakenOver: @Sendable () async throws(VaultError) -> Bool = { false }
    private let pulse = StallClock()

    var pack: PackManifest { file.pack }

    /// Completes the file that was claimed and returns it, saved, under its final name in ephemeral storage, locked until
    /// it is let go. On failure what came stays for the next attempt. Throws `.busy` when somebody wants to go on with it.
    mutating func complete(
        _ claimed: OpenFileReference, progress: (UInt64) -> Void
    ) async throws(VaultError) -> OpenFileReference {
        var assembly = try PackAssembly(claimed, of: pack)
        _ = try await assembly.prove()
        progress(assembly.presentCount)
        while true {
            try await requireOwnership()
            try await reuse(for: &assembly, progress: progress)
            guard let wanted = try assembly.wanted() else { break }
            let before = assembly.arrivedCount
            try budget.takeRequest()
            do throws(TransferFailure) {
                try await transfer(wanted, into: &assembly, progress: progress)
                noteProgress(of: assembly, whichHad: before)
            } catch {
                try await recover(from: error, in: &assembly, whichHad: before)
            }
        }
        do throws(VaultError) { _ = try assembly.finish() } catch {
            // What could not be saved still reads well, and a second attempt to save it would claim success.
            try? file.abandon(claimed)
            throw error
        }
        StagingStep.downloadVerified.reached()
        let finished = try file.finish(claimed)
        StagingStep.downloadNamed.reached()
        return finished
    }

    /// Waits, and turns to another mirror if need be.
    mutating func recover(
        from failure: TransferFailure, in assembly: inout PackAssembly, whichHad before: UInt64
    ) async throws(VaultError) {
        // All of the tail may have come before the transfer failed.
        _ = try await assembly.prove()
        noteProgress(of: assembly, whichHad: before)
        let sender = sources.location
        let pause = try sources.recover(from: failure)
        if sources.location != sender { assembly.changeSender() }
        do { try await Task.sleep(for: pause) } catch { throw VaultError.cancelled(pack.id.description) }
    }

    /// Throws `.busy` where this process stood still and somebody went on in its place.
    func requireOwnership() async throws(VaultError) {
        guard pulse.hasStalled(), try await isTakenOver() else { return }
        throw VaultError(
            .busy, "another process went on with the download of '\(pack.id)'",
            at: sources.location.description, remedy: "nothing needs to be done")
    }

    private mutating func noteProgress(of assembly: borrowing PackAssembly, whichHad before: UInt64) {
        let count = assembly.arrivedCount
        if count > before { sources.noteProgress(count - before) }
    }

    /// Once it is known which pieces the pack has.
    private mutating func reuse(
        for assembly: inout PackAssembly, progress: (UInt64) -> Void
    ) async throws(VaultError) {
        guard !assembly.isUnverified, !held.isEmpty else { return }
        var others = held[...]
        held = []
        try await assembly.reuse(from: { others.popFirst() }, progress: progress)
    }
}
