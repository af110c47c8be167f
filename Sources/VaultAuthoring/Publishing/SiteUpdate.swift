import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultKeys

/// Brings a site's metadata up to what it should say: signs what changed or would soon expire, and writes it.
struct SiteUpdate {
    let vault: VaultFolder
    let settings: VaultSettings
    let current: CurrentSite
    let passphrase: PassphraseSource?
    let period: SigningPeriod

    struct Outcome {
        /// The files that were written.
        var written: [String] = []
        var warnings: [String] = []
    }

    /// - Parameter records: what the vault itself lists.
    /// - Throws: `key` when something must be signed elsewhere first; it waits in `pending/` then.
    func run(listing records: [TargetRecord]) async throws(VaultError) -> Outcome {
        let signing = try MetadataSigning(for: vault, passphrase: passphrase, period: period)
        let root = try RootRenewal(root: current.root, signing: signing).run()
        if let file = root.successor, try await publishAlone(file, signing) {
            var outcome = try await SiteUpdate(
                vault: vault, settings: settings, current: try await CurrentSite(of: vault),
                passphrase: passphrase, period: period
            ).run(listing: records)
            outcome.written.insert(file.hostedName, at: 0)
            return outcome
        }
        let successor = try root.successor.map { file throws(VaultError) in
            try current.root.successor(verifying: try file.unverified)
        }
        var renewal = SiteRenewal(
            current: current.tree, root: current.root, successor: successor, signing: signing)
        renewal.isReplacement = current.isReplacement
        let teams = try settings.structure.teams.map { team throws(VaultError) in
            try TeamImport(
                from: team, into: vault, listed: vault.followsHost ? current.tree : nil,
                versionsAreReset: renewal.resetsVersions && !vault.followsHost, now: period.now)
        }
        var deliveries = TeamDeliveries()
        for team in teams {
            try deliveries.take(team, after: current.tree?.chain.snapshot[team.team.role])
        }
        let listings = try listings(of: records, with: teams, under: renewal)
        guard let files = try renewal.files(listing: listings, importing: deliveries.files) else {
            let names = renewal.waiting.map { "\(vault.pending.string)/\($0)" }.joined(separator: ", ")
            throw signing.keys.failure(
                for: .targets, namedBy: renewal.rootName,
                remedy: "sign \(names) where it is kept ('assetvault trust sign'), then publish again")
        }
        let all = files + (root.successor.map { [$0] } ?? [])
        let tree =
            all.isEmpty
            ? current.tree : try await vault.publish(all, now: period.now)
        if let tree { try vault.remember(tree) }
        for role in [MetadataRole.root] + listings.map(\.role)
        where all.contains(where: { $0.draft.role == role }) {
            try signing.pending.remove(role)
        }
        return Outcome(
            written: all.map(\.hostedName),
            warnings: root.warnings + renewal.warnings + deliveries.warnings + teamWarnings(tree))
    }

    /// A root under which what is published already holds, as when it only names more keys, waits for nothing else.
    private func publishAlone(_ root: SignedMetadata, _ signing: MetadataSigning) async throws(VaultError)
        -> Bool
    {
        // One that would have to be renewed at once brings nobody further.
        guard current.tree != nil, !period.isDue(.root, expiring: root.draft.expires) else { return false }
        do throws(VaultError) {
            // Whether something has expired meanwhile is no matter of the root.
            try await vault.publish([root], now: .earliest)
        } catch {
            guard error.category == .untrusted else { throw error }
            return false
        }
        try signing.pending.remove(.root)
        return true
    }

    /// What only the teams can mend.
    private func teamWarnings(_ tree: TargetTree?) -> [String] {
        let teams = Set(settings.structure.teams.map(\.role))
        let due = (tree?.delegatedRoles ?? []).filter {
            teams.contains($0.document.role) && period.isDue($0.document.role, expiring: $0.expires)
        }
        let refused = (tree?.refusals ?? []).filter { teams.contains($0.role) }
        return due.map { "the team '\($0.document.role)' must publish again before \($0.expires)" }
            + refused.map { "clients refuse the team '\($0.role)': \($0.error.problem)" }
    }

    /// Which role lists what: teams their own, the bins or the top-level targets all else.
    private func listings(
        of records: [TargetRecord], with teams: [TeamImport], under renewal: SiteRenewal
    ) throws(VaultError) -> [SiteRenewal.Listing] {
        let trusts = renewal.trusts(of: .targets)
        var delegations = teams.map(\.delegation)
        for record in records {
            guard let team = delegations.first(where: { $0.covers(record.path) }) else { continue }
            throw VaultError(
                .usage, "it is within the paths of the team '\(team.role)'", at: "target \(record.path)",
                remedy: "give the pack another ID, or the team other paths")
        }
        let newest = (renewal.successor ?? renewal.root).trust(in: .targets)
        let bins = BinnedListing(bits: settings.structure.binBits, trust: newest)
        if let bins { delegations.append(bins.delegation) }
        let top = SiteRenewal.Listing(
            role: .targets, records: bins == nil ? records : [],
            delegations: delegations.isEmpty ? nil : .roles(delegations), trusts: trusts)
        return (bins?.listings(of: records) ?? []) + [top]
    }
}
