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
        roles = TrustSummary(of: tree, now: now).roles
        findings += roles.filter(\.isDue).map {
            AuditFinding(
                .warning, "version \($0.version) expires at \($0.expires), in \($0.daysLeft) days",
                at: $0.role.fileName, remedy: "publish again before then, or clients refuse the site")
        }
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
