import StrictJSON
import UpdateFramework
import VaultErrors

/// Which metadata must be written anew: what says something else now, what names such a file, and what has less than
/// a quarter of its period left.
struct MetadataRenewal {
    let current: TrustChain?
    let root: VerifiedRoot
    let metadata: MetadataFolder
    let keys: SigningKeys
    let lifetime: MetadataLifetime
    let now: UTCTime

    func files(listing records: [TargetRecord]) throws(VaultError) -> [SignedMetadata] {
        var files: [SignedMetadata] = []
        if isDue(root, .root), try !rootWaitsForItsKey {
            files.append(try keys.root(after: root, expires: expiry(.root)))
        }
        var targets = current?.targets.reference
        if try hasOtherTargets(records) || isDue(current?.targets, .targets) {
            let file = try sign(
                try .targets(
                    version: try metadata.nextVersion(of: .targets), expires: expiry(.targets),
                    records: records,
                    carrying: current?.targets.json ?? [:]))
            files.append(file)
            targets = file.reference
        }
        guard let targets else { return files }
        var snapshot = current?.snapshot.reference
        if targets != current?.targets.reference || isDue(current?.snapshot, .snapshot) {
            let file = try sign(
                try .snapshot(
                    version: try metadata.nextVersion(of: .snapshot), expires: expiry(.snapshot),
                    targets: targets,
                    carrying: current?.snapshot.json ?? [:]))
            files.append(file)
            snapshot = file.reference
        }
        guard let snapshot else { return files }
        if snapshot != current?.snapshot.reference || isDue(current?.timestamp, .timestamp) {
            files.append(
                try sign(
                    try .timestamp(
                        version: try metadata.nextVersion(of: .timestamp), expires: expiry(.timestamp),
                        snapshot: snapshot, carrying: current?.timestamp.json ?? [:])))
        }
        return files
    }

    private func hasOtherTargets(_ records: [TargetRecord]) throws(VaultError) -> Bool {
        guard let current else { return true }
        let old = Dictionary(current.targets.records.map { (Array($0.path.utf8), $0) }) { $1 }
        return records.count != old.count || records.contains { old[Array($0.path.utf8)] != $0 }
    }

    /// The root could be renewed, but its key is kept elsewhere: until it expires, that is no reason to stop.
    var rootWaitsForItsKey: Bool {
        get throws(VaultError) {
            guard isDue(root, .root), now < root.expires else { return false }
            return try !keys.hasKey(of: .root)
        }
    }

    private func sign(_ draft: MetadataDraft) throws(VaultError) -> SignedMetadata {
        try keys.sign(draft, under: root)
    }

    private func expiry(_ role: TopLevelRole) -> UTCTime { lifetime.expiry(of: role, signedAt: now) }

    /// Whether less than a quarter of the role's period is left.
    private func isDue(_ document: (some VerifiedMetadata)?, _ role: TopLevelRole) -> Bool {
        guard let document else { return true }
        return lifetime.isRenewalDue(of: role, expiring: document.expires, at: now)
    }
}
