public import UpdateFramework

/// What the audits that share a state file saw, for a look at a site's growth.
public struct AuditHistory: Sendable {
    /// The totals of one audit.
    public struct Run: Sendable {
        public let time: UTCTime
        public let seconds: Int64
        /// The version of the site's snapshot; nil where an earlier release did not note it.
        public let version: Int64?
        public let listed: AuditCoverage.Share
        public let verified: AuditCoverage.Share
    }

    /// A part of what is listed, by the time of its last verification.
    public struct Age: Sendable {
        /// Verified within this number of days, and not within a shorter one of the ages; nil for longer ago.
        public let days: Int?
        public internal(set) var share = AuditCoverage.Share()
        /// The part of it whose files were verified with keys in that time, too.
        public internal(set) var withKeys = AuditCoverage.Share()
    }

    /// The last of them, the oldest first; this one is the last.
    public internal(set) var runs: [Run] = []
    /// The shortest first. What was never verified is in none.
    public internal(set) var ages: [Age] = []

    /// The first run of each time in which the same was listed, by the number of packs and their bytes.
    public var growth: [Run] {
        runs.reduce(into: []) { growth, run in
            if growth.last?.listed != run.listed { growth.append(run) }
        }
    }
}

extension AuditState {
    /// - Parameter overdueDays: one of the limits of the ages.
    func history(overdueDays: Int, at now: UTCTime) -> AuditHistory {
        let days = Set([1, 7, 30, 90, max(1, overdueDays)]).sorted()
        return AuditHistory(runs: keptRuns, ages: ages(within: days, at: now))
    }

    private func ages(within days: [Int], at now: UTCTime) -> [AuditHistory.Age] {
        let limits = days.map { now.adding(days: -$0) }
        func age(of time: UTCTime) -> Int { limits.firstIndex { time >= $0 } ?? limits.count }
        var ages = days.map { AuditHistory.Age(days: $0) } + [AuditHistory.Age(days: nil)]
        for pack in packs {
            guard let verified = pack.verified else { continue }
            let number = age(of: verified)
            ages[number].share.add(pack.length)
            if let keyed = pack.keyed, age(of: keyed) == number { ages[number].withKeys.add(pack.length) }
        }
        return ages
    }
}
