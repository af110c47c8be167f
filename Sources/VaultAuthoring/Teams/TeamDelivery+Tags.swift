import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultKeys
import VaultSite

/// The tags of a team's packs, as far as they count.
extension TeamDelivery {
    /// The packs with a granted tag that some key opens; of others nothing can be said.
    func openedPacks(with keys: any KeyProvider) async throws(VaultError) -> [(OpenPack, PackOffer)] {
        var opened: [(OpenPack, PackOffer)] = []
        for listed in listedPacks.packs where !listed.pack.tags.isEmpty {
            let sites = [vault.path.pushing(team.site).appending("targets"), vault.targets]
            for site in sites {
                do throws(VaultError) {
                    let file = try PackFile(
                        opening: site.appending(listed.target.hostedPath), as: listed.pack)
                    opened.append((try await OpenPack(file, keys: keys), listed.pack.offer))
                    break
                } catch {
                    guard !error.isCancellation else { throw error }
                }
            }
        }
        return opened
    }
}

extension TargetTree {
    /// Of the packs of some teams.
    func withheldTags(of teams: Set<MetadataRole>) -> [WithheldTags] {
        let records = records.filter { $0.signer.map(teams.contains) ?? false }
        return PublishedPacks(of: records, in: chain).withheldTags
    }
}
