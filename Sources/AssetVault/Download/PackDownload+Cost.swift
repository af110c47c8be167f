import SealedPack
import VaultErrors
import VaultFileSystem
import VaultTransport

extension PackDownload {
    /// The cost of completing the file. Fetches only the tail (index and catalog) into the file, if the file does not have
    /// it yet; which pieces can be reused follows from the indexes of other packs in the store.
    ///
    /// - Parameter lockedFile: the file of the download; the caller has its lock.
    mutating func cost(of lockedFile: OpenFileReference) async throws(VaultError) -> UpdateCost {
        var assembly = try PackAssembly(lockedFile, of: pack)
        _ = try await assembly.verifyTail()
        if assembly.isEmpty, assembly.prefersSingleRequest(hasReusablePacks: reusable?.hasSources ?? false) {
            return assembly.costOfSingleRequest
        }
        var tailLength: UInt64 = 0
        while assembly.isTailUnverified, let wanted = try assembly.wanted() {
            if tailLength == 0 { tailLength = UInt64(wanted.count) }
            let before = assembly.receivedLength
            try budget.takeRequest()
            do throws(TransferFailure) {
                let answer = try await ask(for: wanted, of: assembly)
                // The rest of the body is not read.
                guard sources.takesRanges else {
                    observer(.sentWhole(pack.id, sources.location))
                    return assembly.costOfSingleRequest
                }
                try await take(answer, for: wanted, into: &assembly) { _ in }
            } catch {
                try await recover(from: error, in: &assembly, receivedBefore: before)
            }
        }
        var others = await reusable?.sources(with: try assembly.missingPieces())
        return try assembly.cost(reusing: { others?.next() }, countingTail: tailLength)
            ?? assembly.costOfSingleRequest
    }
}
