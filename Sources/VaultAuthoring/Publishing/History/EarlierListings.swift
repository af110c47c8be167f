import UpdateFramework
import VaultBase
import VaultSite

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
        guard tree.chain.root.usesConsistentSnapshots else { return }
        let files: [MetadataFileName]
        do throws(VaultError) { files = try folder.versions() } catch {
            findings.append(Finding(error))
            return
        }
        // The roots from the first one on, if they lead to the one that was verified; else that one alone.
        let roots = (try? await RootHistory(fromFirstRootOf: folder)?.roots) ?? []
        let isComplete = roots.contains { $0.digest == tree.chain.root.digest }
        let signers = PackSigners(under: isComplete ? roots : [tree.chain.root], of: tree)
        let newest = tree.versions
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
                guard let newest = newest[file.unversionedName], file.version < newest else { continue }
                findings.append(
                    .damaged(
                        "earlier metadata that can't be read: \(error.problem)",
                        at: folder.place(of: file.hostedName),
                        remedy: "put the publisher's copy of it there"))
            }
        }
    }
}
