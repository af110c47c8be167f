import ArgumentParser
import AssetVault
import SealedPack
import VaultBase
import VaultFileSystem

struct Downloader: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "downloader",
        abstract: "Download packs to shared storage, without any key, within a budget.",
        discussion: """
            Runs in the background beside an app. It may be killed and started again at any time, and \
            resumes where it stopped. The packs wait, verified and sealed, for 'fetch' or 'unlock'. \
            With the requests install and update, essential packs come first; with periodic, they are treated \
            like all others. Exit code 75 means that the time was up.

            EXAMPLE
              assetvault downloader https://cdn.example.com/game --store ~/.game \\
                --trust trusted-root.json --request install --time 30
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup var view: ViewOptions
    @OptionGroup var connection: TransportOptions
    @OptionGroup var store: StoreOptions

    private static let kinds = ContentRequest.allCases.map(\.rawValue)

    @Option(
        help: ArgumentHelp("Why it is started: install, update or periodic.", valueName: "kind"),
        completion: .list(kinds),
        transform: { text in
            if let request = ContentRequest(rawValue: text) { return request }
            throw ValidationError(
                "a request is install, update or periodic, not '\(text)'"
                    + Suggestion.question(for: text, among: kinds))
        })
    var request: ContentRequest

    @OptionGroup var time: TimeOption

    @Option(
        help: ArgumentHelp(
            """
            How much memory it may take, 32MiB or more, such as 64MiB: with less, fewer packs are downloaded \
            at a time. A bare number counts bytes.
            """,
            valueName: "bytes"))
    var memory = ByteCount(bytes: DownloaderBudget.leastMemory)

    @Option(
        help: ArgumentHelp(
            """
            Bytes that essential packs may take with the request 'install', including downloaded metadata.
            """,
            valueName: "bytes"))
    var essentialAllowance: ByteCount?

    @Option(
        help: ArgumentHelp(
            "Bytes that the other packs may take with the request 'install'.", valueName: "bytes"))
    var allowance: ByteCount?

    @OptionGroup var limits: ClientLimitOptions

    @OptionGroup var progress: ProgressOption

    @Flag(help: "Print the result of each pack as JSON.")
    var json = false

    /// No run takes less, and a much smaller number is a mistaken unit.
    private static let leastMemory = ByteCount(bytes: DownloaderBudget.leastMemory)

    func validate() throws {
        guard memory.bytes >= Self.leastMemory.bytes else {
            throw ValidationError(
                "--memory takes \(Self.leastMemory) or more, such as 64MiB; \(memory.bytes) counts bytes")
        }
    }

    func run() async throws {
        ProcessSettings.useOneArena()
        var configuration = try client.configuration(of: store.layout, seeing: view, over: connection)
        limits.apply(to: &configuration)
        configuration.policy.essentialDownloadAllowance = essentialAllowance?.bytes
        configuration.policy.downloadAllowance = allowance?.bytes
        let budget = DownloaderBudget(time: time.duration, memory: memory.bytes)
        let shown = FetchProgress()
        defer { shown.finish() }
        let result = await outcome { () throws(VaultError) in
            let downloader = try PackDownloader(configuration)
            try await downloader.requireKnownTraits(within: budget.time)
            return try await downloader.run(request, within: budget) { shown.show($0) }
        }
        shown.finish()
        if json {
            DownloaderAnswer(outcome: result, removed: shown.removed).answer(asJSON: true)
        }
        let report = try result.get()
        FetchProgress.note(unstated: report.unstatedTraits)
        if let version = report.contestedVersion { FetchProgress.warn(ofContested: version) }
        if let error = report.firstError {
            shown.reportFailures(and: report.refusals, before: error)
            throw error
        }
        if shown.hasPrintedNothing {
            Console.note("nothing was to be downloaded: the store has what the site lists")
        }
    }
}

/// What a downloader did: JSON only, since people see its progress.
struct DownloaderAnswer: Report {
    let outcome: Result<DownloaderReport, VaultError>
    /// Packs that were removed for disk space.
    let removed: [PackID]

    private var refusals: [VaultError] {
        switch outcome {
        case .success(let report): report.refusals
        case .failure(let error): [error]
        }
    }

    var columns: [Column<Self>] {
        [
            .texts("removed") { $0.removed },
            .table(
                "packs",
                [
                    .text("id") { $0.id }, .text("state") { (try? $0.result.get())?.name },
                    .text("failure") { $0.result.failure?.problem },
                    .text("category") { $0.result.failure?.category.rawValue },
                ]
            ) { (try? $0.outcome.get())?.packs ?? [] },
            // The category is for scripts, the text for people.
            .table(
                "refusals",
                [
                    .text("place") { $0.place }, .text("failure") { $0.problem },
                    .text("category") { $0.category.rawValue },
                ]
            ) { $0.refusals },
        ]
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
