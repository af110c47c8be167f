import UpdateFramework
import VaultErrors
import VaultSite

/// What the metadata that a site's folder keeps lists beside the newest: earlier versions, which can be restored, and those
/// of a publication that was interrupted. Only metadata that the site's own keys have signed counts.
struct EarlierListings {
    /// A file that only kept metadata lists, and which of them is the newest.
    struct Listing {
        let target: TargetRecord
        let metadata: String
    }

    private(set) var listings: [Listing] = []
    /// Kept metadata that can't be read.
    private(set) var findings: [AuditFinding] = []

    init(in folder: MetadataFolder, of tree: TargetTree) async {
        // Without versions in the names nothing is kept.
        guard tree.chain.root.usesConsistentSnapshots, let files = try? folder.versions() else { return }
        let roots = await Self.roots(in: folder, leadingTo: tree.chain.root)
        let signers = PackSigners(under: roots, of: tree)
        let newest = Dictionary(
            ([tree.chain.targets] + tree.delegatedRoles).map { ($0.document.role, $0.version) }
        ) { first, _ in first }
        var known = Set(tree.records.map(\.hostedPath))
        for file in files.filter({ $0.role?.type == .targets }).sorted(by: { $0.version > $1.version }) {
            do throws(VaultError) {
                guard let metadata = try folder.metadata(in: file) else { continue }
                for target in try metadata.records
                where !known.contains(target.hostedPath) && signers.authorize(target, in: metadata) {
                    known.insert(target.hostedPath)
                    listings.append(Listing(target: target, metadata: file.hostedName))
                }
            } catch {
                // What follows on the newest is no part of the site.
                guard let role = file.role, let newest = newest[role], file.version < newest else { continue }
                findings.append(
                    AuditFinding(
                        .error(.corrupt), "earlier metadata that can't be read: \(error.problem)",
                        at: folder.place(of: file.hostedName),
                        remedy: "put the publisher's copy of it there, or prune it"))
            }
        }
    }

    /// The roots from the first one on, if they lead to the one that was verified; else that one alone.
    private static func roots(in folder: MetadataFolder, leadingTo newest: VerifiedRoot) async
        -> [VerifiedRoot]
    {
        guard let history = try? await RootHistory(fromFirstRootOf: folder),
            history.roots.contains(where: { $0.digest == newest.digest })
        else { return [newest] }
        return history.roots
    }
}
