import AssetVault

/// What three processes and their store may be like: what each has in access, and which versions are live.
struct RequestModel {
    /// A request that has access.
    struct Access: Sendable {
        let place: Int
        let name: String
        /// The packs and their versions, as it began.
        let versions: [PackID: UInt64]
        /// All files' digests, as they were read first.
        let digests: [String]
    }

    /// What came of a move.
    struct Outcome: Sendable {
        let place: Int
        let move: RequestMove
        var answer: RequestPeer.Answer
        /// What it gave access to, and still does.
        var begun: Access?
        /// How often the process asked the host.
        var requestCount = 0
    }

    /// Moves at once, and the world around them.
    struct Step {
        let outcomes: [Outcome]
        /// The accesses that ended or were killed.
        let ended: Set<String>
        /// Whether the host failed at any moment.
        let isHostBad: Bool
        /// Versions of the site that were published meanwhile.
        let published: ClosedRange<Int>
        /// Versions that are live afterwards.
        let live: [PackID: UInt64]
    }

    let site: LevelSite
    var accesses: [Access] = []
    var disks: [RequestMove.Disk]
    var live: [PackID: UInt64] = [:]
    /// The newest version of each pack that was ever live: none goes back.
    private var newest: [PackID: UInt64] = [:]
    private var knowsLastLevel = false

    init(_ site: LevelSite, processes count: Int) {
        self.site = site
        disks = Array(repeating: .plain, count: count)
    }

    /// Takes a step; returns what may not be.
    mutating func take(_ step: Step) -> [String] {
        let kept = accesses.filter { !step.ended.contains($0.name) }
        var objections: [String] = []
        for (number, outcome) in step.outcomes.enumerated() {
            var others = step.outcomes
            others.remove(at: number)
            let state = Judged(
                outcome: outcome, others: others, step: step, wanted: wanted(outcome.move), kept: kept)
            objections += complaints(about: state).map { "process \(outcome.place) \(outcome.move): \($0)" }
        }
        for id in site.packs.keys.sorted() where live[id] != step.live[id] {
            objections += complaints(aboutChangeOf: id, in: step, kept)
        }
        accesses = kept + step.outcomes.compactMap(\.begun)
        if usedBytes(accesses) > RequestWorld.limit { objections.append("too much is in access") }
        live = step.live
        newest.merge(live, uniquingKeysWith: max)
        if step.outcomes.contains(where: { $0.begun?.versions.keys.contains(where: isOfLastLevel) == true }) {
            knowsLastLevel = true
        }
        for outcome in step.outcomes {
            switch outcome.move {
            case .disk(let disk): disks[outcome.place] = disk
            case .kill, .begin(_, .kill, _): disks[outcome.place] = .plain
            default: break
            }
        }
        return objections
    }

    /// A move, with what it may depend on.
    private struct Judged {
        let outcome: Outcome
        let others: [Outcome]
        let step: Step
        let wanted: Set<PackID>
        /// In access all the time.
        let kept: [Access]
    }

    private func wanted(_ move: RequestMove) -> Set<PackID> {
        switch move {
        case .begin(let tags, _, _), .conditional(let tags): Set(site.packs(of: tags).map(\.id))
        case .update(let tags): Set(tags.isEmpty ? Array(site.packs.keys) : site.packs(of: tags).map(\.id))
        default: []
        }
    }

    /// What a move may update: also the packs here that share a tag with those that it wants.
    private func updatable(_ move: RequestMove) -> Set<PackID> {
        guard loads(move) else { return [] }
        var found = wanted(move)
        var count = 0
        while found.count > count {
            count = found.count
            let tags = Set(found.flatMap { site.packs[$0]?.tags ?? [] })
            found.formUnion(site.packs(of: tags).map(\.id).filter { live[$0] != nil })
        }
        return found
    }

    private func loads(_ move: RequestMove) -> Bool {
        switch move {
        case .begin, .update: true
        default: false
        }
    }

    private func removes(_ outcome: Outcome) -> Bool {
        switch outcome.move {
        case .purge, .purgeSome: true
        case .begin, .update: disks[outcome.place] == .tight
        default: false
        }
    }

    private func isOfLastLevel(_ id: PackID) -> Bool {
        site.packs[id]?.tags.contains(LevelSite.lastLevel) ?? false
    }

    private func usedBytes(_ accesses: [Access], and wanted: Set<PackID> = []) -> UInt64 {
        Set(accesses.flatMap(\.versions.keys)).union(wanted).reduce(0) { $0 + (site.packs[$1]?.size ?? 0) }
    }
}

// MARK: - What may not be

extension RequestModel {
    private func complaints(about judged: Judged) -> [String] {
        let outcome = judged.outcome
        switch (outcome.move, outcome.answer) {
        case (.kill, _), (.begin(_, .kill, _), .none): return []
        case (_, .none): return ["it died"]
        case (.beginAgain, .failed(.usage, _)): return []
        case (.beginAgain, let answer): return ["\(answer)"]
        case (.begin, .ok): return complaints(aboutAccessOf: judged)
        case (.conditional, .ok), (.conditional, .no): return complaints(aboutConditional: judged)
        case (.purge, .ok(let removed)), (.purgeSome, .ok(let removed)):
            return complaints(aboutPurgeOf: removed, judged)
        case (_, .ok): return []
        case (_, .failed(let category, let text)):
            return isAllowed(category, judged) ? [] : ["\(category): \(text)"]
        default: return ["\(outcome.answer)"]
        }
    }

    private func isAllowed(_ category: VaultError.Category, _ judged: Judged) -> Bool {
        let (move, step) = (judged.outcome.move, judged.step)
        let othersRemove = judged.others.contains(where: removes)
        let isMissing = judged.wanted.contains { live[$0] == nil } || othersRemove
        let wantsLastLevel = judged.wanted.contains(where: isOfLastLevel)
        let isUpdate = if case .update = move { true } else { false }
        switch (category, move) {
        case (.unavailable, .begin), (.unavailable, .update), (.unreachable, .begin), (.unreachable, .update):
            return step.isHostBad && (isMissing || isUpdate || wantsLastLevel && !knowsLastLevel)
        case (.diskFull, .begin), (.diskFull, .update):
            return disks[judged.outcome.place] != .plain && (isMissing || isUpdate)
        case (.accessLimit, .begin), (.accessLimit, .conditional):
            let asked = judged.others.reduce(judged.wanted) { $0.union(wanted($1.move)) }
            return usedBytes(accesses, and: asked) > RequestWorld.limit
        case (.unknownTag, .begin), (.unknownTag, .update):
            return wantsLastLevel && step.published.lowerBound < LevelSite.lastLevelSince
        case (.unknownTag, .conditional): return wantsLastLevel && !knowsLastLevel
        case (.cancelled, .begin(_, .cancel, _)): return true
        // It may end before it has begun.
        case (.cancelled, .begin(_, .end, _)), (.usage, .begin(_, .end, _)): return true
        case (.busy, .begin), (.busy, .update), (.missing, .update): return othersRemove
        default: return false
        }
    }

    private func complaints(aboutAccessOf judged: Judged) -> [String] {
        var found: [String] = []
        if usedBytes(judged.kept, and: judged.wanted) > RequestWorld.limit { found.append("above the limit") }
        guard let access = judged.outcome.begun else { return found }
        for (id, version) in access.versions {
            let known = site.version(of: id, at: judged.step.published.upperBound) ?? 0
            let oldest = newest[id] ?? 1
            if !(oldest...max(oldest, known)).contains(version) {
                found.append("version \(version) of \(id), neither \(oldest) nor \(known)")
            }
        }
        return found
    }

    private func complaints(aboutConditional judged: Judged) -> [String] {
        var found: [String] = []
        if judged.outcome.requestCount > 0 { found.append("it asked the host") }
        let isAlone = judged.others.isEmpty
        let isLoaded = judged.wanted.allSatisfy { live[$0] != nil }
        if judged.outcome.answer.isOK {
            if isAlone, !isLoaded { found.append("it began without packs") }
            found += complaints(aboutAccessOf: judged)
        } else if isLoaded, !judged.others.contains(where: removes) {
            found.append("it did not begin")
        }
        return found
    }

    /// All that nobody has or wants goes, and nothing else.
    private func complaints(aboutPurgeOf removed: [String], _ judged: Judged) -> [String] {
        var found: [String] = []
        let touched = judged.others.reduce(Set<PackID>()) {
            $0.union(wanted($1.move)).union(updatable($1.move))
        }
        let held = Set(accesses.flatMap(\.versions.keys))
        for (id, pack) in site.packs {
            let isRemoved = removed.contains(id.description)
            if isRemoved, !pack.isOnDemand { found.append("\(id) must stay") }
            if isRemoved, judged.kept.contains(where: { $0.versions[id] == live[id] && live[id] != nil }),
                !judged.others.contains(where: { loads($0.move) })
            {
                found.append("\(id) is in access")
            }
            guard case .purge = judged.outcome.move, pack.isOnDemand, live[id] != nil, !held.contains(id),
                !touched.contains(id)
            else { continue }
            if judged.step.live[id] != nil { found.append("\(id) is still there") }
        }
        return found
    }

    private func complaints(
        aboutChangeOf id: PackID, in step: Step, _ kept: [Access]
    ) -> [String] {
        if let version = step.live[id] {
            var found: [String] = []
            if version < newest[id] ?? 1 { found.append("\(id) went back to \(version)") }
            if version > site.version(of: id, at: step.published.upperBound) ?? 0 {
                found.append("\(id) \(version) was not published")
            }
            if !step.outcomes.contains(where: { updatable($0.move).contains(id) }) {
                found.append("nobody wanted \(id)")
            }
            return found
        }
        var found: [String] = []
        if kept.contains(where: { $0.versions[id] == live[id] }),
            !step.outcomes.contains(where: { loads($0.move) && wanted($0.move).contains(id) })
        {
            found.append("\(id) is gone, and in access")
        }
        if site.packs[id]?.isOnDemand == false { found.append("\(id) is gone") }
        if !step.outcomes.contains(where: removes) { found.append("nobody removed \(id)") }
        return found
    }
}
