import SealedPack
import UpdateFramework
import VaultSite

extension TargetTree {
    /// The files of a site's hosts, each once.
    var hostedRecords: [TargetRecord] {
        var known: Set<String> = []
        return recordsOfAllChannels.filter { record in
            // A team may list what is not a pack. Clients find none of it, and the site has no copy.
            (PackID(targetPath: record.path) != nil || (record.signer ?? .targets).listsOwnPacks)
                && known.insert(record.hostedPath).inserted
        }
    }
}
