import UpdateFramework
import VaultBase

extension AuditState {
    /// Replaces the packs by what is listed; what is known of them stays.
    ///
    /// - Returns: what is known and not listed.
    mutating func list(_ targets: [TargetRecord], at now: UTCTime) -> [Pack] {
        var listed = targets.compactMap { Pack($0, seen: now) }.sorted { $0.precedes($1) }
        // Records of one file may differ in other members.
        listed = listed.reduce(into: []) { listed, pack in
            if listed.last?.isSameFile(as: pack) != true { listed.append(pack) }
        }
        var unlisted: [Pack] = []
        for known in packs {
            let index = listed.indices.partitionPoint { !listed[$0].precedes(known) }
            guard index < listed.count, listed[index].isSameFile(as: known) else {
                unlisted.append(known)
                continue
            }
            listed[index].recall(known, at: now)
        }
        packs = listed
        return unlisted
    }

    /// Nil for a file that has no SHA-256: it is verified in every run, as if for the first time.
    func index(of target: TargetRecord) -> Int? {
        guard let pack = Pack(target, seen: .earliest) else { return nil }
        let index = packs.indices.partitionPoint { !packs[$0].precedes(pack) }
        return index < packs.count && packs[index].isSameFile(as: pack) ? index : nil
    }

    func coverage(overdueDays: Int, at now: UTCTime) -> AuditCoverage {
        var coverage = AuditCoverage(overdueDays: overdueDays)
        let limit = now.adding(days: -overdueDays)
        for pack in packs {
            coverage.listed.add(pack.length)
            if pack.result != .sound {
                coverage.bad.add(pack.length)
            } else if pack.verified != nil {
                coverage.sound.add(pack.length)
            }
            if pack.isVerifiedInThisRun { coverage.inThisRun.add(pack.length) }
            if let keyed = pack.keyed, keyed >= limit { coverage.recentWithKeys.add(pack.length) }
            guard let verified = pack.verified else {
                coverage.never.add(pack.length)
                continue
            }
            if verified >= limit { coverage.recent.add(pack.length) }
            coverage.oldest = min(verified, coverage.oldest ?? verified)
        }
        coverage.oldestDays = coverage.oldest.map {
            (now.secondsSince1970 - $0.secondsSince1970) / 86_400 + 1
        }
        return coverage
    }

    /// Packs whose turn has not come for too long. One that is new has as much time as the others.
    func overdue(_ coverage: AuditCoverage, at place: String, now: UTCTime) -> [Finding] {
        let limit = now.adding(days: -coverage.overdueDays)
        let days = coverage.overdueDays.counting("day")
        let late = packs.filter { $0.lastTime < limit }
        return [
            Self.finding(
                "never-verified", late.filter { $0.verified == nil },
                "never verified, although listed for more than \(days)", at: place),
            Self.finding(
                "overdue", late.filter { $0.verified != nil }, "not verified for more than \(days)", at: place
            ),
        ].compactMap(\.self)
    }

    /// What earlier runs found to be damaged or missing, and this one has not looked at again.
    func knownFaults(at place: String) -> [Finding] {
        let others = "and this run had other ones to verify"
        let confirmation = "a run with the same --state and without --sample confirms it"
        return [
            untried(.failed).map { packs in
                Finding(
                    .error(.corrupt), "known-damage",
                    "\(packs.count) failed when last verified, such as \(packs.example), \(others)",
                    at: place, remedy: "repair them; \(confirmation)")
            },
            untried(.missing).map { packs in
                Finding(
                    .error(.notHosted), "known-missing",
                    "the host did not have \(packs.count) when last asked, such as \(packs.example), \(others)",
                    at: place, remedy: "upload the site again; \(confirmation)")
            },
        ].compactMap(\.self)
    }

    /// Nil for no packs.
    private func untried(_ result: Pack.Result) -> (count: String, example: String)? {
        let found = packs.filter { $0.result == result && !$0.isTriedInThisRun }
        return found.first.map { first in
            let time = first.failed.map { ", at \($0)" } ?? ""
            return (found.count.counting("pack"), first.path.excerpt + time)
        }
    }

    /// Nil for no packs.
    private static func finding(
        _ code: Finding.Code, _ packs: [Pack], _ problem: String, at place: String
    ) -> Finding? {
        guard let first = packs.min(by: { $0.lastTime < $1.lastTime }) else { return nil }
        let bytes = packs.saturatingSum(\.length)
        return .warning(
            code,
            "\(problem): \(packs.count.counting("pack")) of \(bytes) bytes, such as \(first.path.excerpt), since \(first.lastTime)",
            at: place, remedy: "let each run verify more, or run it more often")
    }

    /// How much more or less is listed than in the last run.
    func growth(to listed: AuditCoverage.Share, at place: String) -> [Finding] {
        guard let last = runs.last, last.listed != listed else { return [] }
        let before = last.listed
        let code: Finding.Code = listed.packs < before.packs ? "fewer-packs" : "changed-size"
        return [
            Finding(
                .note, code,
                "\(listed.packs.counting("pack")) of \(listed.bytes) bytes are listed; at \(last.time) they were \(before.packs) of \(before.bytes) bytes",
                at: place, remedy: "compare it with what was published")
        ]
    }
}

extension AuditState.Pack {
    /// Of what is not remembered.
    static let firstTurn = Int64.min

    fileprivate init?(_ target: TargetRecord, seen: UTCTime) {
        guard let digest = target.hashes.sha256 else { return nil }
        self.init(digest: digest, path: target.path, length: target.length, seen: seen)
    }

    /// Takes over what is known of the same file. A time to come is one of a wrong clock.
    fileprivate mutating func recall(_ known: Self, at now: UTCTime) {
        seen = min(known.seen, now)
        verified = known.verified.flatMap { $0 <= now ? $0 : nil }
        keyed = known.keyed.flatMap { $0 <= now ? $0 : nil }
        failed = known.failed.flatMap { $0 <= now ? $0 : nil }
        result = known.result
    }

    fileprivate var lastTime: UTCTime { verified ?? seen }

    /// The file with the lowest number is verified first.
    func turn(withKeys: Bool) -> Int64 {
        // What the keys don't open takes turns with the others.
        let last = withKeys && result != .locked ? keyed : verified
        return (failed ?? last)?.secondsSince1970 ?? Self.firstTurn
    }

    /// Whether it is verified again before its turn.
    var isUrgent: Bool {
        switch result {
        case .failed, .missing, .unread: true
        case .sound, .locked: false
        }
    }

    mutating func note(_ errors: [VaultError], withKeys: Bool, at now: UTCTime) {
        isTriedInThisRun = true
        guard errors.allSatisfy({ $0.category == .key }) else {
            let found = Self.result(of: errors)
            // A host that does not answer says nothing of what was found before.
            if found != .unread || ![.failed, .missing].contains(result) { result = found }
            failed = now
            return
        }
        result = errors.isEmpty ? .sound : .locked
        (verified, failed, isVerifiedInThisRun) = (now, nil, true)
        if withKeys, errors.isEmpty { keyed = now }
    }

    private static func result(of errors: [VaultError]) -> Result {
        guard errors.allSatisfy(\.isHostFailure) else { return .failed }
        return errors.contains { $0.category == .notHosted } ? .missing : .unread
    }
}
