public import UpdateFramework
import VaultBase

/// How much of a site was verified, by all audits that share a state file.
public struct AuditCoverage: Sendable {
    /// Packs, other listed files included, and their bytes.
    public struct Share: Sendable, Equatable {
        public internal(set) var packs = 0
        public internal(set) var bytes: UInt64 = 0

        mutating func add(_ length: UInt64) {
            packs += 1
            bytes.saturatingAdd(length)
        }
    }

    /// What the site lists; of a folder also the earlier versions that are kept.
    public internal(set) var listed = Share()
    /// The part in which no error was found when it was last looked at, in this run or an earlier one.
    public internal(set) var sound = Share()
    /// The part in which one was found then. The rest was never looked at.
    public internal(set) var bad = Share()
    /// The part of it that this run has verified.
    public internal(set) var inThisRun = Share()
    /// The part that was verified within the last ``overdueDays``.
    public internal(set) var recent = Share()
    /// The part that was verified with keys in that time.
    public internal(set) var recentWithKeys = Share()
    /// The part that no run has verified.
    public internal(set) var never = Share()
    /// The time of the oldest verification that counts; nil if nothing was verified.
    public internal(set) var oldest: UTCTime?
    /// All but ``never`` was verified within this number of days.
    public internal(set) var oldestDays: Int64?
    public let overdueDays: Int
}

/// How much one audit verifies. Metadata are always verified.
public struct AuditBudget: Sendable {
    /// Of the listed bytes, in hundredths of a percent.
    public var share: UInt64?
    public var bytes: UInt64?
    public var time: Duration?

    public init(share: UInt64? = nil, bytes: UInt64? = nil, time: Duration? = nil) {
        (self.share, self.bytes, self.time) = (share, bytes, time)
    }

    /// All of ``share``.
    public static let wholeShare: UInt64 = 10_000

    var isUnlimited: Bool { share == nil && bytes == nil && time == nil }

    /// Nil without a limit.
    func bytes(of listed: UInt64) -> UInt64? {
        let whole = Self.wholeShare
        let part = share.map { share in
            let share = min(share, whole)
            return listed / whole * share + (listed % whole * share + whole - 1) / whole
        }
        return [part, bytes].compactMap(\.self).min()
    }
}
