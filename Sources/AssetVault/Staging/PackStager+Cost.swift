import SealedPack
import VaultErrors
import VaultFileSystem

extension PackStager {
    /// The cost of a download that is about to begin; nil where none is needed. The tail that is fetched for this is its beginning, so that
    /// nothing comes twice.
    func costOfBeginning(_ offer: LocatedPack) async throws(VaultError) -> UpdateCost? {
        if try keptPack(offer.pack) != nil { return nil }
        let file = DownloadFile(layout: store.layout, pack: offer.pack)
        try store.layout.makeEphemeral()
        if case .whole = try file.arrival() { return nil }
        var download = newDownload(of: offer, to: file)
        return try await download.cost(of: file.claim())
    }

    /// The cost of downloading a pack now; nil where no download is needed. Leaves no new file; an existing partial
    /// download keeps the tail that was fetched for this.
    func cost(of offer: LocatedPack) async throws(VaultError) -> UpdateCost? {
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
