import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultKeys
import VaultSite

/// What a vault has published: a site, or a team's part of one.
enum PublishedState {
    case site(CurrentSite, VaultFolder)
    case part(MetadataRole, VerifiedTargets?, RoleTrust, VaultFolder)

    init(
        of vault: VaultFolder, _ settings: VaultSettings, passphrase: PassphraseSource?,
        at host: HostedSite? = nil
    ) async throws(VaultError) {
        if let host {
            self = .site(CurrentSite(at: host), vault)
        } else if let role = settings.structure.ownRole {
            let keys = try SigningKeys(of: vault, passphrase: passphrase)
            let trust = RoleTrust([MetadataKey(try keys.ownKey(of: role))])
            self = .part(role, try TeamUpdate.published(by: role, in: vault, trust: trust), trust, vault)
        } else {
            self = .site(try await CurrentSite(of: vault), vault)
        }
    }

    /// What the vault itself lists, as it is published.
    var ownListing: OwnListing {
        switch self {
        case .site(let current, _): current.ownListing
        case .part(_, let targets, _, _): OwnListing(of: targets?.records ?? [])
        }
    }

    /// The version of a pack that the site lists, whichever role does.
    func listedVersion(of id: PackID) -> UInt64? {
        guard case .site(let current, _) = self, let record = try? current.tree?.record(at: id.targetPath)
        else { return nil }
        return try? PublishedPacks.Listing(record).pack.version
    }

    /// Earlier versions of the vault's packs.
    var history: PackHistory {
        get throws(VaultError) {
            switch self {
            case .site(_, let vault):
                return PackHistory(
                    of: vault, signedBy: ListingSigners(under: try RootHistory(of: vault).roots))
            case .part(_, _, let trust, let vault):
                return PackHistory(of: vault, signedBy: ListingSigners(trust))
            }
        }
    }

    func update(
        to records: [TargetRecord], _ settings: VaultSettings, _ order: PublicationRequest
    ) async throws(VaultError) -> SiteUpdate.Outcome {
        let period = SigningPeriod(
            lifetime: settings.lifetime, now: order.now, offlineUntil: order.offlineUntil)
        switch self {
        case .site(let current, let vault):
            return try await SiteUpdate(
                vault: vault, settings: settings, current: current, passphrase: order.passphrase,
                period: period
            ).run(listing: records)
        case .part(let role, let old, _, let vault):
            return try TeamUpdate(vault: vault, role: role, passphrase: order.passphrase, period: period)
                .run(listing: records, after: old)
        }
    }
}
