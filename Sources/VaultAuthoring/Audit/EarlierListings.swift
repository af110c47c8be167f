import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem
import VaultSite
import VaultTransport

/// The packs that older metadata in a site's folder lists: earlier versions, which can be restored, and those of an interrupted
/// publication. Only metadata that the site's own keys have signed counts.
struct EarlierListings {
    /// A file that only older metadata lists, and the newest metadata that lists it.
    struct Listing {
        let target: TargetRecord
        let metadata: String
    }

    private(set) var listings: [Listing] = []
    /// Kept metadata that can't be read.
    private(set) var findings: [Finding] = []

    init(in folder: MetadataFolder, of tree: TargetTree) async {
        // Without versions in the names nothing is kept.
        guard tree.chain.root.usesConsistentSnapshots, let files = try? folder.versions() else { return }
        // The roots from the first one on, if they lead to the one that was verified; else that one alone.
        let roots = (try? await RootHistory(fromFirstRootOf: folder)?.roots) ?? []
        let isComplete = roots.contains { $0.digest == tree.chain.root.digest }
        let signers = PackSigners(under: isComplete ? roots : [tree.chain.root], of: tree)
        let newest = Dictionary(tree.targetsRoles.map { ($0.document.role, $0.version) }) { first, _ in first
        }
        var known = Set(tree.recordsOfAllChannels.map(\.hostedPath))
        for file in files.filter({ $0.role?.type == .targets }).sorted(by: { $0.version > $1.version }) {
            do throws(VaultError) {
                guard let metadata = try folder.metadata(in: file) else { continue }
                for target in try metadata.records
                where !known.contains(target.hostedPath) && signers.authorize(target, in: metadata) {
                    known.insert(target.hostedPath)
                    listings.append(Listing(target: target, metadata: file.hostedName))
                }
            } catch {
                // What follows on the newest is not part of the site.
                guard let role = file.role, let newest = newest[role], file.version < newest else { continue }
                findings.append(
                    .damaged(
                        "earlier metadata that can't be read: \(error.problem)",
                        at: folder.place(of: file.hostedName),
                        remedy: "put the publisher's copy of it there, or prune it"))
            }
        }
    }

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
        _ listing: Listing, at site: Site, in chain: TrustChain, _ observe: (AuditProgress) -> Void
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
        _ observe: (AuditProgress) -> Void
    ) async throws(VaultError) -> [Finding] {
        if let pack = try? ListedPack(target).pack {
            return await PackExamination(place: place, manifest: pack, keys: nil).run(on: file, observe)
                .findings
        }
        try HostedFile.verify(file, as: target, at: place)
        return []
    }
}
