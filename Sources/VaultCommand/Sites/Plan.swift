import ArgumentParser
import SealedPack
import StrictJSON
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultContent
import VaultErrors
import VaultKeys
import VaultSite

struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the packs that a vault's sources make, and what each device gets.",
        discussion: """
            Looks at the sources, and seals and writes nothing. Of each pack it says its category, tags, traits and files, its \
            size once opened, and the sealed size of the version that is published. Then follow the tags, and what devices \
            get: of variants only the one that fits. Sizes are compared with limits: those of "limits" in vault.json, or of \
            --limits; the exit code is 78 where one is exceeded. Paths are compared between packs that a request by a common tag shows \
            as one tree. --why says of one file which pack it is in, and every rule that matches it, with its line: all of them count, the \
            default only where no other one gives a tag. --updates also says what clients of the published versions would \
            download: that seals the sources into scratch, and takes as long as 'publish --dry-run'. It needs the published packs, or \
            --against with the URL of their host.

            EXAMPLE
              assetvault plan my-game --device scale=2 --device language=de-AT \\
                --limits apple-2024
              assetvault plan my-game --why levels/1/map.json
            """)

    @OptionGroup var vault: VaultArgument

    @Option(
        name: .customLong("device"),
        help: ArgumentHelp(
            "Show only what this device gets, such as one that states scale=2 or language=de-AT,en; repeatable. 'all' stands for one that takes all variants.",
            valueName: "trait=value"))
    private var deviceTexts: [String] = []

    @OptionGroup var limits: SizeLimitOption

    @Option(
        name: .customLong("why"),
        help: ArgumentHelp(
            "Say of this file of a source, relative to it, which rules put it where.", valueName: "path"))
    var explainedPath: String?

    @Flag(help: "Seal into scratch, and say what the update costs each device.")
    var updates = false

    @OptionGroup var keys: KeyOptions
    @OptionGroup var host: HostOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let folder = vault.folder
        if let explainedPath { return try explain(explainedPath, in: folder) }
        let named = try limits.limits()
        let given = try keys.cachedProvider()
        let site = try host.site()
        let plan = try await ContentPlan(
            of: folder, keys: given ?? FileKeyProvider(path: folder.vaultKeys), at: site)
        let device = try deviceTexts.isEmpty ? nil : DeviceTraits(parsing: deviceTexts)
        let devices = device.map { [$0] } ?? plan.devices
        let contents = try devices.map { try DeviceContent(of: plan, for: $0) }
        var findings = plan.findings(for: contents, within: named ?? plan.limits ?? SizeLimits())
        if let device { findings += plan.findings(ofStated: device) }
        let packs = device == nil ? plan.packs : contents.flatMap(\.packs)
        var report = ContentPlanReport(plan: plan, packs: packs, contents: contents, findings: findings)
        if updates {
            var order = PublicationRequest(keys: given, now: .now)
            order.host = site
            let preview = try await Publication.preview(of: folder, order)
            if let pack = preview.packs.first(where: \.lacksCost) {
                throw VaultError(
                    .missing,
                    "what clients download of '\(pack.name ?? pack.id)' is unknown: published packs are not here",
                    at: folder.targets.string, remedy: "restore site/, or go on from what the host has",
                    hint: .publishingFromHost)
            }
            report.updates = preview.downloads
            report.findings += Finding.uncountedUpdates(preview.uncountedUpdates)
        }
        report.answer(asJSON: json)
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
        let traits = traits.map { name, value in
            "\(name)=\(value.compactText)"
        }
        let text = (tags.map { "'\($0)'" } + traits).joined(separator: ", ")
        return isDefault
            ? "is the default\(isUsed ? ", and gives" : " where no rule gives a tag, and would give") \(text)"
            : "matches, and gives \(text)"
    }
}
