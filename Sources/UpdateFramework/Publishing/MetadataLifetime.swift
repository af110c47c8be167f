/// How long metadata of each role is valid after it was signed, in days.
public struct MetadataLifetime: Sendable, Hashable {
    public var root = 365
    public var targets = 365
    public var snapshot = 30
    public var timestamp = 30

    public init() {}

    /// The expiry of metadata signed now.
    public func expiry(of role: MetadataRole, signedAt now: UTCTime) -> UTCTime {
        now.adding(days: days(of: role))
    }

    /// The period of a role.
    public func days(of role: MetadataRole) -> Int {
        switch role.type {
        case .root: root
        case .targets: targets
        case .snapshot: snapshot
        case .timestamp: timestamp
        }
    }

    /// Whether less than a quarter of the role's period is left before `expires`.
    public func isRenewalDue(of role: MetadataRole, expiring expires: UTCTime, at now: UTCTime) -> Bool {
        let period = expiry(of: role, signedAt: now).secondsSince1970 - now.secondsSince1970
        return expires.secondsSince1970 - now.secondsSince1970 < period / 4
    }
}
