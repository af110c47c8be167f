import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem
import VaultSite
import VaultTransport

extension EarlierListings {
    /// The listed files that are there, and a note of each other one. Files of a host can't be listed: there only the newest metadata
    /// counts.
    func files(at site: Site, in chain: TrustChain) -> (present: [Listing], gone: [Finding]) {
        var files: (present: [Listing], gone: [Finding]) = ([], [])
        for listing in listings {
            if let path = (try? site.location(of: listing.target, in: chain))?.path,
                (try? FileSystem.exists(path)) == false
            {
                files.gone.append(
                    Finding(
                        .note, "gone",
                        "this earlier version is missing, so that it can't be restored; \(listing.metadata) lists it",
                        at: path.string, remedy: "put the publisher's copy there to keep that possible"))
            } else {
                files.present.append(listing)
            }
        }
        return files
    }

    /// Verifies a file in the site's folder. Without a problem it is noted as one that can be removed.
    static func examine(
        _ listing: Listing, at site: Site, in chain: TrustChain, _ observe: (WorkProgress) -> Void
    ) async -> [Finding] {
        var place = listing.target.path
        do throws(VaultError) {
            guard let path = try site.location(of: listing.target, in: chain).path else { return [] }
            place = path.string
            let file = OpenFileReference(try OpenFile(reading: path))
            let findings = try await problems(of: file, at: place, as: listing.target, observe)
            guard findings.isEmpty else { return findings }
            return [
                .prunable(
                    "an earlier version, which can be restored; \(listing.metadata) lists it", at: place)
            ]
        } catch {
            return [Finding(error, at: place)]
        }
    }

    /// Every byte is compared with what was signed. Keys are not used: those of that time may be others.
    private static func problems(
        of file: OpenFileReference, at place: String, as target: TargetRecord,
        _ observe: (WorkProgress) -> Void
    ) async throws(VaultError) -> [Finding] {
        if let pack = try? ListedPack(target).pack {
            return await PackExamination(place: place, manifest: pack, keys: nil).run(on: file, observe)
                .findings
        }
        try target.verify(file, at: place)
        return []
    }
}
