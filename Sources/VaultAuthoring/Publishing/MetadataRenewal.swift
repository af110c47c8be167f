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
        if isDue(root, .root) {
            files.append(try keys.root(version: root.version + 1, expires: expiry(.root)))
        }
        var targets = current?.targets.reference
        if try hasOtherTargets(records) || isDue(current?.targets, .targets) {
            let file = try keys.sign(
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
            let file = try keys.sign(
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
                try keys.sign(
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

    private func expiry(_ role: TopLevelRole) -> UTCTime { lifetime.expiry(of: role, signedAt: now) }

    /// Whether less than a quarter of the role's period is left.
    private func isDue(_ document: (some VerifiedMetadata)?, _ role: TopLevelRole) -> Bool {
        guard let document else { return true }
        return lifetime.isRenewalDue(of: role, expiring: document.expires, at: now)
    }
}
