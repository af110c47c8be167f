import UpdateFramework
import VaultErrors
import VaultSite
import VaultTransport

extension AuditReport {
    /// Verifies a site's metadata, and notes its roles. Nil when it can't be believed: then the report says so, and
    /// nothing below the metadata is to be looked at.
    mutating func establishTrust(in site: Site, from pinnedRoot: [UInt8]?, now: UTCTime) async -> TargetTree?
    {
        let tree: TargetTree
        do throws(VaultError) {
            tree = try await TargetTree.verifying(site, pinnedRoot: pinnedRoot, now: now)
        } catch {
            trust = .failed
            findings.append(AuditFinding(error.asMissingFile(in: site)))
            findings.append(
                AuditFinding(
                    .note, "its metadata could not be verified, so nothing that it lists was looked at",
                    at: subject,
                    remedy: "audit it again when its metadata verifies"))
            return nil
        }
        trust = pinnedRoot == nil ? .unpinned : .pinned
        let chain = tree.chain
        roles = [
            AuditedRole(chain.root, now: now), AuditedRole(chain.timestamp, now: now),
            AuditedRole(chain.snapshot, now: now), AuditedRole(chain.targets, now: now),
        ]
        roles += tree.delegatedRoles.map { AuditedRole($0, now: now) }
        findings += roles.compactMap { $0.renewalWarning(now: now) }
        findings += tree.refusals.map { AuditFinding($0.error.asMissingFile(in: site)) }
        return tree
    }
}

extension VaultError {
    /// A folder does not fail as a host does: what it lacks is missing from it, and the site damaged.
    func asMissingFile(in site: Site) -> VaultError {
        guard category == .unavailable, site.location.path != nil else { return self }
        return VaultError(.corrupt, problem, at: place, remedy: remedy)
    }
}
