import SealedPack
import UpdateFramework
import VaultSite

extension TargetTree {
    /// The files of a site's hosts, each once.
    var hostedRecords: [TargetRecord] {
        var known: Set<String> = []
        return recordsOfAllChannels.filter { record in
            // A team may list what is not a pack. Clients find none of it, and the site has no copy. Of another program's file no other
            // digest is verified here.
            let isOwn = record.hashes.sha256 != nil && (record.signer ?? .targets).listsOwnPacks
            return (PackID(targetPath: record.path) != nil || isOwn)
                && known.insert(record.hostedPath).inserted
        }
    }
}
