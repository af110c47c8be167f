import Synchronization
public import SystemPackage
public import UpdateFramework
public import VaultBase
import VaultFileSystem

/// The memory of a site's audits: which versions they saw, and when each pack was last verified. By it an audit finds a host that goes
/// back to an earlier state, and one that verifies a part of the packs takes those whose turn it is.
///
/// The file is replaced as a whole, during the run, too: what a killed run has verified stays verified.
public final class AuditLedger: Sendable {
    private struct Progress {
        var state: AuditState
        /// Of the site's snapshot, in this run.
        var version: Int64?
        /// What was known and is not listed; kept only where it may be listed again.
        var unlisted: [AuditState.Pack] = []
        /// Nil without a limit.
        var byteLimit: UInt64?
        var readBytes: UInt64 = 0
        var tried = 0
        var lastSaved: ContinuousClock.Instant?
    }

    private let path: FilePath
    /// Held as long as the ledger: of two runs the later one would forget what the other one has verified.
    private let lock: FileLock
    private let budget: AuditBudget
    private let overdueDays: Int
    private let now: UTCTime
    private let start = ContinuousClock.now
    private let progress: Mutex<Progress>

    private static let sizeLimit = 1 << 30
    private static let savingInterval = Duration.seconds(10)

    /// - Parameters:
    ///   - path: the file; it is made where there is none.
    ///   - overdueDays: a pack that was not verified for longer gives a warning.
    /// - Throws: `corrupt` for a damaged file, which stays as it is; `busy` while another audit uses it; `unwritable`.
    public init(at path: FilePath, budget: AuditBudget, overdueDays: Int, now: UTCTime) throws(VaultError) {
        guard let lock = try FileLock.tryAcquire(FilePath(path.string + ".lock"), .exclusive) else {
            throw VaultError(
                .busy, "another audit is using it", at: path.string, remedy: "wait until that one is done")
        }
        let folder = path.removingLastComponent()
        if let folder = try? Folder(opening: folder.isEmpty ? "." : folder) {
            _ = try? folder.removeAbandonedScratch()
        }
        try DurableFile.requireWritable(path, replacing: true)
        var state = AuditState()
        if try FileSystem.exists(path) {
            state = try AuditState(
                parsing: DurableFile.read(path, limit: Self.sizeLimit), place: path.string)
        }
        (self.path, self.budget, self.overdueDays, self.now) = (path, budget, overdueDays, now)
        self.lock = lock
        progress = Mutex(Progress(state: state))
    }

    /// Compares a site with what was seen before, and remembers it.
    ///
    /// - Throws: `untrusted` for another site; then nothing is remembered.
    func compare(_ seen: SeenSite) throws(VaultError) -> [Finding] {
        try progress.withLock { (progress) throws(VaultError) in
            progress.version = seen.snapshotVersion
            return try progress.state.compare(seen, stateFile: path.string)
        }
    }

    /// The order in which files are verified, as indices: the given one, or with a budget those that were never verified, then those that
    /// were verified longest ago. What failed comes before its turn.
    ///
    /// - Parameters:
    ///   - withKeys: whether verifications without keys count for nothing.
    ///   - keepsUnlisted: whether more may be listed by the next run.
    func schedule(_ targets: [TargetRecord], withKeys: Bool, keepsUnlisted: Bool) -> [Int] {
        progress.withLock { progress in
            progress.unlisted = progress.state.list(targets, at: now)
            if !keepsUnlisted { progress.unlisted = [] }
            guard !budget.isUnlimited else { return Array(targets.indices) }
            progress.byteLimit = budget.bytes(of: progress.state.packs.saturatingSum(\.length))
            let known = targets.map { target in
                progress.state.index(of: target).map { progress.state.packs[$0] }
            }
            let turns = known.map { $0?.turn(withKeys: withKeys) ?? AuditState.Pack.firstTurn }
            let order = targets.indices.sorted { (turns[$0], $0) < (turns[$1], $1) }
            return Self.forwarding(
                order.filter { known[$0]?.isUrgent == true }, in: order, lengths: targets.map(\.length),
                upTo: progress.byteLimit.map { $0 / 2 } ?? 0)
        }
    }

    /// Moves what is urgent to the front, as far as it has no more bytes than the rest before it, or than `free`: a large damaged pack
    /// would else be all that each run verifies.
    private static func forwarding(
        _ urgent: [Int], in order: [Int], lengths: [UInt64], upTo free: UInt64
    ) -> [Int] {
        var urgent = urgent[...]
        var (ordered, isOrdered) = ([Int](), Set<Int>())
        var (urgentBytes, otherBytes) = (UInt64(0), UInt64(0))
        for index in order {
            while let next = urgent.first {
                let bytes = urgentBytes.saturatingAdding(lengths[next])
                guard isOrdered.contains(next) || bytes <= max(otherBytes, free) else { break }
                urgent.removeFirst()
                guard isOrdered.insert(next).inserted else { continue }
                urgentBytes = bytes
                ordered.append(next)
            }
            guard isOrdered.insert(index).inserted else { continue }
            otherBytes.saturatingAdd(lengths[index])
            ordered.append(index)
        }
        return ordered
    }

    /// How many files of these lengths, in this order, the budget of bytes allows.
    func expected(_ lengths: some Sequence<UInt64>) -> Int {
        let limit = progress.withLock(\.byteLimit) ?? .max
        var (count, bytes) = (0, UInt64(0))
        for length in lengths where count == 0 || bytes < limit {
            count += 1
            bytes.saturatingAdd(length)
        }
        return count
    }

    /// Whether the budget allows another file. One is always verified.
    var admitsAnother: Bool {
        progress.withLock { progress in
            guard progress.tried > 0 else { return true }
            if let limit = progress.byteLimit, progress.readBytes >= limit { return false }
            return budget.time.map { ContinuousClock.now - start < $0 } ?? true
        }
    }

    /// Remembers how a file was found, and writes that down from time to time.
    ///
    /// - Parameter withKeys: whether all its files were verified, too.
    func note(_ target: TargetRecord, _ findings: [Finding], withKeys: Bool) {
        let errors = findings.compactMap(\.error)
        progress.withLock { progress in
            progress.tried += 1
            if !errors.contains(where: \.isHostFailure) {
                progress.readBytes.saturatingAdd(target.length)
            }
            guard let index = progress.state.index(of: target) else { return }
            progress.state.packs[index].note(errors, withKeys: withKeys, at: now)
            if let last = progress.lastSaved, ContinuousClock.now - last < Self.savingInterval { return }
            // An error that stays is found at the end.
            try? save(progress)
            progress.lastSaved = .now
        }
    }

    /// Adds the run to the file.
    ///
    /// - Parameter place: the site.
    func finish(
        at place: String
    ) -> (coverage: AuditCoverage, history: AuditHistory, findings: [Finding]) {
        progress.withLock { progress in
            let coverage = progress.state.coverage(overdueDays: overdueDays, at: now)
            var findings = progress.state.growth(to: coverage.listed, at: place)
            findings += progress.state.overdue(coverage, at: place, now: now)
            findings += progress.state.knownFaults(at: place)
            progress.state.runs.append(
                AuditHistory.Run(
                    time: now, seconds: (ContinuousClock.now - start).components.seconds,
                    version: progress.version, listed: coverage.listed, verified: coverage.inThisRun))
            do throws(VaultError) { try save(progress) } catch { findings.append(Finding(error)) }
            return (coverage, progress.state.history(overdueDays: overdueDays, at: now), findings)
        }
    }

    private func save(_ progress: Progress) throws(VaultError) {
        var state = progress.state
        state.packs += progress.unlisted
        try DurableFile.write(state.encoded().span, to: path, permissions: 0o600, replacing: true)
    }
}
