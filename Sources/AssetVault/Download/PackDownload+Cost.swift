import SealedPack
import VaultErrors
import VaultFileSystem
import VaultTransport

extension PackDownload {
    /// The cost of completing the file. Only the tail of the pack is fetched, into `claimed`, unless it is there; the
    /// pieces of other packs are found in their indexes.
    mutating func cost(of claimed: OpenFileReference) async throws(VaultError) -> UpdateCost {
        var assembly = try PackAssembly(claimed, of: pack)
        _ = try await assembly.verifyTail()
        if assembly.isEmpty, assembly.prefersSingleRequest(hasSources: reusable?.hasSources ?? false) {
            return assembly.costOfSingleRequest
        }
        var tail: UInt64 = 0
        while assembly.isUnverified, let wanted = try assembly.wanted() {
            if tail == 0 { tail = UInt64(wanted.count) }
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
                try await recover(from: error, in: &assembly, whichHad: before)
            }
        }
        var others = await reusable?.sources(with: try assembly.missingPieces())
        return try assembly.cost(reusing: { others?.next() }, countingTail: tail)
            ?? assembly.costOfSingleRequest
    }
}

extension PackStager {
    /// The cost of downloading a pack now; nil where no download is needed. Nothing stays on the disk, but a partial
    /// download gets the index and the catalog.
    func cost(of offer: OfferedPack) async throws(VaultError) -> UpdateCost? {
        if try keptPack(offer.pack) != nil { return nil }
        let file = DownloadFile(layout: store.layout, pack: offer.pack)
        try store.layout.makeEphemeral()
        var download = newDownload(of: offer, to: file)
        switch try file.arrival() {
        case .whole: return nil
        case .partial: return try await download.cost(of: file.claim())
        case nil: break
        }
        let scratch = try ScratchFile(for: store.layout.partialDownload(of: offer.pack))
        let copy = try OpenFile(duplicating: scratch.file.descriptor, named: scratch.file.path)
        return try await download.cost(of: OpenFileReference(copy))
    }
}
