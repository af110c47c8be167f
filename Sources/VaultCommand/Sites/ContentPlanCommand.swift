import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultErrors
import VaultKeys
import VaultSite

struct ContentPlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show the packs that a vault's sources make, and what each device gets.",
        discussion: """
            Looks at the sources, and seals and writes nothing. Of each pack it says its category, tags, traits and files, its \
            size once opened, and the sealed size of the version that is published. Then follow the tags, and what devices \
            get: of variants only the one that fits. Sizes are compared with limits: those of "limits" in vault.json, or of \
            --limits; the exit code is 78 where one is exceeded. --updates also says what clients of the published versions would \
            download: that seals the sources into scratch, and takes as long as 'publish --dry-run'.

            EXAMPLE
              assetvault plan my-game --device scale=2 --device language=de-AT \\
                --limits apple-2024
            """)

    @Argument(help: ArgumentHelp("The vault.", valueName: "vault"), completion: .directory)
    var vault: String

    @Option(
        name: .customLong("device"),
        help: ArgumentHelp(
            "Show only what this device gets, such as one that states scale=2 or language=de-AT,en; repeatable. 'all' stands for one that takes all variants.",
            valueName: "trait=value"))
    private var deviceTexts: [String] = []

    @Option(
        help: ArgumentHelp(
            "Hold the sizes against \(SizeLimits.presets.keys.sorted().joined(separator: ", ")).",
            valueName: "name"))
    var limits: String?

    @Flag(help: "Seal into scratch, and say what the update costs each device.")
    var updates = false

    @OptionGroup var keys: KeyOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let folder = VaultFolder(FilePath(vault))
        let named = try limits.map { name throws(VaultError) in try SizeLimits(named: name) }
        let keys = try keys.cachedProvider() ?? FileKeyProvider(path: folder.vaultKeys)
        let plan = try await ContentPlan(of: folder, keys: keys)
        let device = try deviceTexts.isEmpty ? nil : DeviceTraits(parsing: deviceTexts)
        let devices = device.map { [$0] } ?? plan.devices
        let contents = try devices.map { try DeviceContent(of: plan, for: $0) }
        var findings = plan.findings(for: contents, within: named ?? plan.limits ?? SizeLimits())
        if let device { findings += plan.findings(ofStated: device) }
        var report = ContentPlanReport(plan: plan, contents: contents, findings: findings)
        if updates {
            let preview = try await Publication.preview(
                of: folder, PublicationRequest(keys: keys, now: .now))
            report.updates = preview.downloads
            report.findings += PlanFinding.uncounted(preview.uncountedUpdates)
        }
        report.answer(asJSON: json)
        if !json { report.explain() }
        if let first = findings.first(where: { $0.severity == .error }) {
            throw VaultError(.limit, first.problem, at: vault, remedy: first.remedy)
        }
    }
}
