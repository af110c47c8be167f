import ArgumentParser
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultSite

struct Plan: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show the packs that a vault's sources make, and what each device gets.",
        discussion: """
            Reads the sources; seals and writes nothing. Prints the category, tags, traits and files of each \
            pack, its size once opened, and the sealed size of the published version. Then follow the tags, \
            and what devices get: of variants only the one that fits. Sizes are compared with limits: those \
            of "limits" in vault.json, or of --limits; the exit code is 78 where one is exceeded. Paths are \
            compared between packs that a request by a common tag shows as one tree. --why prints the pack \
            that one file is in, and every rule that matches it, with its line: all of them count, the \
            default only if no other rule gives a tag. --updates also prints what clients of the published \
            versions and a new device would download, and the size of the upload: it seals the sources into \
            scratch, and takes as long as 'publish --dry-run'. It needs the published packs, or --against \
            with the URL of their host.

            EXAMPLE
              assetvault plan my-game --device scale=2 --device language=de-AT \\
                --limits apple-2024 --html plan.html
              assetvault plan my-game --why levels/1/map.json
            """)

    @OptionGroup var vault: VaultArgument

    @Option(
        name: .customLong("device"),
        help: ArgumentHelp(
            """
            Show only what this device gets, such as one that states scale=2 or language=de-AT,en; \
            repeatable. 'all' stands for one that takes all variants.
            """,
            valueName: "trait=value"))
    private var deviceTexts: [String] = []

    @OptionGroup var limits: SizeLimitOption

    @Option(
        name: .customLong("why"),
        help: ArgumentHelp(
            """
            Show the pack that this file of a source is in, and the rules that decide it; the path is \
            relative to the source.
            """,
            valueName: "path"))
    var explainedPath: String?

    @Flag(help: "Seal into scratch, and print the size of the update for each device.")
    var updates = false

    @OptionGroup var keys: KeyOptions
    @OptionGroup var host: HostOptions

    @OptionGroup var progress: ProgressOption

    @Flag(help: "Print JSON.")
    var json = false

    @Option(
        help: ArgumentHelp(
            """
            Write the plan as a page that needs no other file and no network, too; '-' prints it in place of \
            the text.
            """,
            valueName: "file"),
        completion: .file())
    var html: ReportFile?

    func validate() throws {
        if json, html?.isOutput == true {
            throw ValidationError("--html - and --json both want standard output")
        }
    }

    func run() async throws {
        let folder = try vault.folder(keys.passphrase)
        if let explainedPath { return try explain(explainedPath, in: folder) }
        let named = try limits.limits()
        let given = try keys.cachedProvider()
        let site = try host.site()
        let plan = try await ContentPlan(
            of: folder, keys: given ?? folder.ownKeys, opening: keys.service.opener(), at: site)
        let device = try deviceTexts.isEmpty ? nil : DeviceTraits(parsing: deviceTexts)
        let devices = device.map { [$0] } ?? plan.devices
        let contents = try devices.map { try DeviceContent(of: plan, for: $0) }
        var findings = plan.findings(for: contents, within: named ?? plan.limits ?? SizeLimits())
        if let device { findings += plan.findings(ofStated: device) }
        let packs = device == nil ? plan.packs : contents.flatMap(\.packs)
        var report = ContentPlanReport(plan: plan, packs: packs, contents: contents, findings: findings)
        if updates {
            var request = AuthorRequest(keys: given, now: .now)
            request.keyServices = try keys.service.opener()
            request.host = site
            let bar = ProgressBar()
            defer { bar.finish() }
            request.isDryRun = true
            let preview = try await Publication.run(of: folder, request, observe: bar.show)
            bar.finish()
            if let pack = preview.packs.first(where: \.isCostUnknown) {
                throw VaultError(
                    .missing,
                    "what clients download of '\(pack.name ?? pack.id)' is unknown: published packs are not here",
                    at: folder.targets.string,
                    remedy: "restore site/, or continue from the state of the host",
                    hint: .publishingFromHost)
            }
            (report.updates, report.sizes) = (preview.downloads, preview.sizes)
            report.findings += Finding.uncountedUpdates(preview.uncountedUpdates)
        }
        try html?.write(PlanPage(vault: vault.path, report: report).page.bytes)
        if html?.isOutput != true { report.answer(asJSON: json) }
        if let first = findings.lazy.compactMap(\.error).first {
            throw first.with(at: vault.path)
        }
    }

    private func explain(_ path: String, in folder: VaultFolder) throws(VaultError) {
        let explanation = try FileExplanation(of: path, in: folder)
        explanation.answer(asJSON: json)
        guard explanation.sources.isEmpty else { return }
        throw VaultError(
            .missing, "no source of the vault has '\(path)'", at: vault.path,
            remedy: "write its path as it is below the source")
    }
}

/// Where a file goes, and why.
extension FileExplanation: Report {
    var columns: [Column<Self>] {
        [.text("path") { $0.path.string }, .table("sources", sourceColumns) { $0.sources }]
    }

    private var sourceColumns: [Column<Source>] {
        [
            .text("source") { $0.id }, .words { $0.text(for: path.string) },
            .text("pack") { source -> PackID? in
                guard case .pack(let id) = source.outcome else { return nil }
                return id
            },
            .flag("excluded") { source in
                guard case .excluded = source.outcome else { return nil }
                return true
            },
            .table("rules", FileExplanation.Rule.columns) { $0.rules },
        ]
    }
}

extension FileExplanation.Source {
    fileprivate func text(for path: String) -> String {
        switch outcome {
        case .pack(let id): "'\(path)' is in '\(id)'"
        case .untagged: "'\(path)' of '\(id)' is in no pack: no rule gives it a tag"
        case .excluded: "'\(path)' of '\(id)' is in no pack: \"include\" and \"exclude\" leave it out"
        }
    }
}

extension FileExplanation.Rule {
    fileprivate static var columns: [Column<Self>] {
        [
            .text("place", "  %") { $0.place }, .words(" %") { $0.effect }, .texts("tags") { $0.tags },
            .object("traits") { $0.traits }, .flag("default") { $0.isDefault }, .flag("used") { $0.isUsed },
        ]
    }

    private var effect: String {
        let traits = traits.map { name, value in "\(name)=\(value.compactText)" }
        let text = (tags.map { "'\($0)'" } + traits).joined(separator: ", ")
        return isDefault
            ? "is the default\(isUsed ? ", and gives" : " where no rule gives a tag, and would give") \(text)"
            : "matches, and gives \(text)"
    }
}

/// The packs that a vault's sources make, and what devices get.
struct ContentPlanReport: Report {
    let plan: ContentPlan
    /// The packs of the plan that the options select.
    let packs: [ContentPlan.Pack]
    let contents: [DeviceContent]
    var findings: [Finding]
    /// Bytes that a client of the published version would download of each pack; nil where that was not asked.
    var updates: [PackID: UInt64]?
    /// Of a publication; nil where that was not asked.
    var sizes: PublicationReport.Sizes?

    var columns: [Column<Self>] {
        [
            .table("packs", packColumns) { $0.packs },
            .table("tags", tagColumns) { $0.largest(\.tagSizes).sorted { $0.key < $1.key } },
            .table("devices", deviceColumns) { $0.contents },
            .object("sizes") { $0.sizes?.json },
            .lines { $0.sizes.map { [$0.text] } ?? [] },
            .lines { $0.plan.hasTeams ? ["tags and devices are counted without the packs of teams"] : [] },
            .object("untagged") {
                JSONObject(lastWins: $0.plan.untagged.map { ($0.key.description, .texts($0.value)) })
            },
            .table(
                "conflicts", [.text("path") { $0.path.string }, .texts("packs") { [$0.first, $0.other] }]
            ) { $0.plan.conflicts },
            .table("findings", Finding.columns) { $0.findings },
        ]
    }

    private var packColumns: [Column<ContentPlan.Pack>] {
        let largest = packs.map(\.openedSize).max() ?? 0
        return [
            .words { Bar.text($0.openedSize, of: largest) }, .text("id", " %") { $0.id },
            .text("policy", "%") { $0.offer.policy.rawValue }, .number("order") { $0.offer.order },
            .text("family") { $0.offer.family },
            .count("entries", "%", of: "file") { $0.entryCount },
            .number("openedSize", ", opened % bytes") { $0.openedSize },
            .number("publishedVersion", "; published: version %") { $0.published?.version },
            .number("sealedLength", ", sealed % bytes") { $0.published?.length },
            .words("; %") { $0.published == nil ? "not published" : nil },
            .words(", restored to %") { $0.pin?.text },
            .number("pinnedVersion") { pack -> UInt64? in
                guard case .version(let version) = pack.pin else { return nil }
                return version
            },
            .number("pinnedSnapshot") { pack -> Int64? in
                guard case .listing(let snapshot) = pack.pin else { return nil }
                return snapshot.version
            },
            .number("updateLength", ", an update of % bytes") { updates?[$0.id] },
            .texts("tags", "tags: %") { $0.offer.tags }, .object("traits") { $0.offer.traits },
            .words("traits: %") { $0.traitText }, .texts("for", ", for %") { $0.audiences },
        ]
    }

    private var tagColumns: [Column<(key: String, value: UInt64)>] {
        let sizes = largest(\.tagSizes)
        // Of devices that get all packs of a tag as they are published.
        let sealed = largest(\.sealedTagSizes)
        return [
            .words { Bar.text($0.value, of: sizes.values.max() ?? 0) }, .text("tag", " tag %") { $0.key },
            .number("openedSize", ": at most % bytes on a device") { $0.value },
            .number("sealedLength", ", sealed %") { sealed[$0.key] },
        ]
    }

    private var deviceColumns: [Column<DeviceContent>] {
        [
            .text("device") { "\($0.device)" }, .words("device %:") { $0.name },
            .number("essential", " essential %") { $0.openedSize(of: [.essential]) },
            .number("prefetch", ", prefetched %") { $0.openedSize(of: [.prefetch]) },
            .number("onDemand", ", on demand % bytes") { $0.openedSize(of: [.onDemand]) },
            .number("sealedLength", "; all sealed % bytes") { $0.sealedSize },
            .number("updateLength", "; an update of % bytes") { updateSize(of: $0) },
            .texts("packs") { $0.packs.map(\.id) },
        ]
    }

    func updateSize(of content: DeviceContent) -> UInt64? {
        updates.map { updates in content.packs.saturatingSum { updates[$0.id] ?? 0 } }
    }

    /// Of all devices the largest size of each tag.
    func largest(_ sizes: (DeviceContent) -> [String: UInt64]) -> [String: UInt64] {
        contents.reduce(into: [:]) { $0.merge(sizes($1), uniquingKeysWith: max) }
    }

    var notes: [String] {
        let pinned = packs.count { $0.pin != nil }
        let held =
            "\(pinned.counting("pack")) \(pinned == 1 ? "is" : "are") held at what was restored, whatever the sources are; 'assetvault restore' with --latest lists the sources again"
        return findings.map { "\($0.severity.name): \($0.text)" } + (pinned > 0 ? [held] : [])
    }
}

extension ContentPlan.Pack {
    /// As devices state traits.
    var traitText: String? {
        let texts = offer.traits.map { name, value in
            if case .string(let text) = value { return "\(name)=\(text)" }
            return "\(name)=\(value.compactText)"
        }
        return texts.unlessEmpty?.joined(separator: " ")
    }
}

extension ContentPlan.Pin {
    fileprivate var text: String {
        switch self {
        case .version(let version): "version \(version)"
        case .listing(let snapshot): "what \(snapshot) lists"
        }
    }
}

extension DeviceContent {
    var name: String { device.description.isEmpty ? "of any kind" : device.description }
}
