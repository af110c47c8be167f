import SealedPack
import Synchronization
import VaultBase
import VaultTransport

/// The mirrors of one pack, and the reaction to a failure: the next mirror, a pause, or an error.
struct DownloadSources {
    private struct Source {
        let location: SiteLocation
        var wrongAnswers = 0
        var supportsRanges = true
        var answersSeveral = true
        var failures = HostFailures()
    }

    private var sources: [Source]
    private var current = 0
    private let retries: RetryPolicy
    private var generator = SystemRandomNumberGenerator()

    /// Number of times that one mirror may send wrong bytes: a bad piece is fetched again even from the only one.
    private static let tolerance = 2

    /// - Parameter locations: not empty, the best one first.
    init(_ locations: [SiteLocation], retries: RetryPolicy) {
        sources = locations.map { Source(location: $0) }
        self.retries = retries
    }

    var location: SiteLocation { sources[current].location }

    /// Whether the mirror sends parts; known only once it was asked for one.
    var supportsRanges: Bool {
        get { sources[current].supportsRanges }
        set { sources[current].supportsRanges = newValue }
    }

    /// Whether several parts may be requested at a time: not where the mirror failed once, or where bytes come so slowly that responses
    /// would delay each other until they time out.
    var answersSeveral: Bool {
        get { sources[current].answersSeveral }
        set { sources[current].answersSeveral = newValue }
    }

    /// Measures all that this mirror sends of the pack.
    var meter: ThroughputMeter { sources[current].failures.meter }

    /// Counts bytes of this mirror that are now in the file.
    mutating func noteProgress(_ bytes: UInt64) { sources[current].failures.note(bytes: bytes) }

    /// Chooses the mirror to ask next. Returns how long to wait before. Throws the error when another attempt is useless.
    mutating func recover(from failure: TransferFailure) throws(VaultError) -> Duration {
        let error = failure.error
        sources[current].answersSeveral = false
        switch error.category {
        case .corrupt:
            sources[current].wrongAnswers += 1
            if sources[current].wrongAnswers >= Self.tolerance { try drop(error) } else { turn() }
            return .zero
        case .untrusted, .notHosted,
            .unavailable where failure.isLasting:
            try drop(error)
            return .zero
        case .unavailable, .unreachable:
            sources[current].failures.noteFailure()
            // The pause is this mirror's, although another one may be the current one then.
            let meter = meter
            let failures = sources[current].failures.count
            guard failures < retries.attempts else {
                try drop(error)
                return .zero
            }
            // Every mirror is asked before any is waited for.
            let mayTurn = sources.contains { $0.failures.count < failures }
            turn()
            guard
                let pause = retries.delay(
                    afterFailures: failures, error, retryAfter: mayTurn ? nil : failure.retryAfter,
                    using: &generator)
            else { throw error }
            if mayTurn { return .zero }
            meter.count(pause: failure.retryAfter ?? .zero)
            return pause
        default: throw error
        }
    }

    private mutating func turn() { current = (current + 1) % sources.count }

    private mutating func drop(_ error: VaultError) throws(VaultError) {
        guard sources.count > 1 else { throw error }
        sources.remove(at: current)
        current %= sources.count
    }
}

/// Reports how much of a download is there; the same count only once.
final class DownloadProgress: Sendable {
    private let pack: PackManifest
    private let observer: Observer
    private let reported = Mutex<UInt64?>(nil)

    init(of pack: PackManifest, _ observer: @escaping Observer) {
        self.pack = pack
        self.observer = observer
    }

    /// What was reported last.
    var count: UInt64? { reported.withLock { $0 } }

    func report(_ count: UInt64) {
        let before = reported.withLock { reported in
            defer { reported = count }
            return reported
        }
        guard before != count else { return }
        // The count falls if a damaged piece was dropped; then nothing was written.
        let written = before.map { count - min($0, count) } ?? 0
        observer(.progress(pack.id, written: written, bytes: count, total: pack.length))
    }
}

/// Whether the owner of a download is stalled: stopped by a signal, or at a host that sends nothing. Each piece that it
/// writes, verifies or opens changes the file's time, which is all that other processes see of it.
struct StallDetector {
    /// Time without progress after which another process that needs the pack continues the download.
    static let limit = Duration.seconds(5)

    private var last: Int64?
    private var since = ContinuousClock.now

    /// Checks again; true when nothing has changed for the limit.
    mutating func isStalled(_ file: DownloadFile) throws(VaultError) -> Bool {
        let change = try file.lastChange()
        guard change == last else {
            (last, since) = (change, .now)
            return false
        }
        return ContinuousClock.now - since > Self.limit
    }
}

/// Lets an owner know that it was stalled, so that another process may have continued.
final class StallClock: Sendable {
    private let last = Mutex(ContinuousClock.now)

    /// Progress that other processes see, too: bytes that fill no whole piece do not count.
    func noteProgress() { last.withLock { $0 = .now } }

    /// Whether half of the limit has passed since the last progress: this process may note it later than others see it.
    var mayHaveStalled: Bool { ContinuousClock.now - last.withLock { $0 } > StallDetector.limit / 2 }
}
