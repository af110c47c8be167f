import SealedPack
import UpdateFramework
import VaultBase
import VaultSite

/// A version that is listed in some channel.
struct ListedVersion {
    let channel: Channel
    let pack: PackManifest
    /// Nil for the vault's own.
    let team: String?
}

extension AuthorSession {
    /// What clients of each channel find: the vault's own packs, and those of teams.
    ///
    /// - Parameter changed: what the vault's own packs of a channel will be.
    func listedVersions(replacing changed: [Channel: [TargetRecord]] = [:]) throws(VaultError)
        -> [ListedVersion]
    {
        let teams = try deliveries()
        return settings.structure.listingChannels.flatMap {
            channel in
            let own = changed[channel].map { OwnPacks(of: $0) } ?? published.ownPacks(in: channel)
            return own.packs.flatMap(\.versions).map {
                ListedVersion(channel: channel, pack: $0, team: nil)
            }
                + teams.flatMap { delivery in
                    delivery.reachablePacks.packs.flatMap(\.versions).map {
                        ListedVersion(channel: channel, pack: $0, team: delivery.team.role.name)
                    }
                }
        }
    }
}
