import SealedPack
public import UpdateFramework
import VaultConcurrency
public import VaultErrors
import VaultFileSystem

/// The downloader's role: downloads packs to shared storage, where the app finds them. It has no key and no state but
/// the store, and may be killed and started again at any time.
public struct PackDownloader: Sendable {
    private let configuration: VaultConfiguration
    private let store: StoreAccess
    private let access: SiteAccess

    /// The key provider of the configuration is not used. Throws `.usage` for a configuration that can't work.
    public init(_ configuration: VaultConfiguration) throws(VaultError) {
        try configuration.validate()
        self.configuration = configuration
        store = StoreAccess(
            layout: configuration.store, role: .downloader, patience: configuration.patience)
        access = SiteAccess(configuration, as: .downloader)
    }

    /// Downloads what the request allows, until the budget is used up.
    ///
    /// - Parameters:
    ///   - onUpdate: told what happens, from any task.
    /// - Returns: the outcome of each pack. Failures are recorded; packs without enough time resume in the next run.
    /// - Throws: errors of the metadata, which concern no single pack; `.busy` where the time is up before that.
    public func run(
        _ request: ContentRequest, within budget: DownloaderBudget = DownloaderBudget(), now: UTCTime = .now,
        onUpdate: @escaping @Sendable (StatusUpdate) -> Void = { _ in }
    ) async throws(VaultError) -> DownloaderReport {
        let work = DownloaderRun(
            configuration: configuration, store: store, access: access, request: request, now: now,
            width: budget.packsAtOnce(upTo: configuration.packsAtOnce), observer: onUpdate)
        let report: DownloaderReport
        if let time = budget.time {
            report = try await withTimeLimit(time, at: "downloader") { () throws(VaultError) in
                try await work.run()
            }
        } else {
            report = try await work.run()
        }
        if Task.isCancelled { throw VaultError.cancelled("downloader") }
        return report
    }
}

/// Limits of a downloader's run.
public struct DownloaderBudget: Sendable {
    /// How long it may run; nil for no limit. Partial downloads stay for the next run.
    public var time: Duration?
    /// Bytes of memory that the process may take; nil sets no limit. It decides how many packs are downloaded at a time:
    /// one at least.
    public var memory: UInt64?

    public init(time: Duration? = nil, memory: UInt64? = nil) {
        self.time = time
        self.memory = memory
    }

    /// Memory of the process without packs, nearly all of it the pages of its program, and of each pack.
    private static let base: UInt64 = 31 << 20
    private static let each: UInt64 = 1 << 20

    func packsAtOnce(upTo most: Int) -> Int {
        guard let memory else { return most }
        guard memory > Self.base else { return 1 }
        return max(1, min(most, Int(clamping: (memory - Self.base) / Self.each)))
    }
}
