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
                files.gone.append(listing.gone(at: path.string))
            } else {
                files.present.append(listing)
            }
        }
        return files
    }
}

extension EarlierListings.Listing {
    func gone(at place: String) -> Finding {
        Finding(
            .note, "gone",
            "this earlier version is missing, so that it can't be restored; \(metadata) lists it",
            at: place, remedy: "put the publisher's copy there to keep that possible")
    }
}
