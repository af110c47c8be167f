public import UpdateFramework

/// Verified metadata of one role.
public struct AuditedRole: Sendable {
    public let role: MetadataRole
    public let version: Int64
    public let expires: UTCTime
    /// Whole days until it expires.
    public let daysLeft: Int64

    init(_ metadata: some VerifiedMetadata, now: UTCTime) {
        role = metadata.document.role
        version = metadata.version
        expires = metadata.expires
        daysLeft = (expires.secondsSince1970 - now.secondsSince1970) / 86_400
    }

    /// A warning when less than a quarter of the usual period is left, which is when publishers renew. (When metadata
    /// was signed, and so its own period, is not written in it.)
    func renewalWarning(now: UTCTime) -> AuditFinding? {
        guard MetadataLifetime().isRenewalDue(of: role, expiring: expires, at: now) else { return nil }
        return AuditFinding(
            .warning, "version \(version) expires at \(expires), in \(daysLeft) days", at: role.fileName,
            remedy: "publish again before then, or clients refuse the site")
    }
}
