import SealedPack
import VaultAuthoring
import VaultBase

/// The page of a plan: a release before it goes out.
struct PlanPage {
    let vault: String
    let report: ContentPlanReport

    var page: Page {
        let level = Page.Level(of: report.findings)
        let sections: [Page.Section?] = [
            findingSection, packSection, deviceSection, tagSection, conflictSection,
        ]
        let opened = report.packs.saturatingSum(\.openedSize)
        return Page(
            kind: "Plan of \(vault)", level: level,
            verdict: "\(report.packs.count.counting("pack")), opened \(Bar.size(opened))",
            details: details(level),
            figures: figures, sections: sections.compactMap(\.self),
            footer: "assetvault \(AssetVaultCommand.release) plan")
    }

    private func details(_ level: Page.Level) -> [String] {
        let count = report.findings.count
        let findings =
            switch level {
            case .error: "There are errors. Findings in all: \(count)."
            case .warning: "There are warnings. Findings in all: \(count)."
            case .good, .note: "Nothing keeps this release from going out."
            }
        let teams = report.plan.hasTeams ? ["Tags and devices are counted without the packs of teams."] : []
        return [findings] + teams
    }

    private var figures: [Page.Figure] {
        let unpublished = report.packs.count { $0.published == nil }
        let largest = report.contents.map { $0.openedSize(of: [.essential]) }.max() ?? 0
        let sizes = report.sizes.map { sizes in
            [
                Page.Figure(
                    name: "First install", value: Bar.size(sizes.firstInstall), detail: "download, sealed"),
                Page.Figure(
                    name: "Update",
                    value: sizes.hasEarlier ? sizes.update.map(Bar.size) ?? "unknown" : "none before",
                    detail: "for the device that downloads most"),
                Page.Figure(name: "Upload", value: Bar.size(sizes.upload), detail: "new files"),
            ]
        }
        return [
            Page.Figure(
                name: "Not published yet", value: "\(unpublished) of \(report.packs.count)", detail: "packs"),
            Page.Figure(name: "Essential, opened", value: Bar.size(largest), detail: "on the largest device"),
        ] + (sizes ?? [])
    }

    private var findingSection: Page.Section? {
        guard !report.findings.isEmpty else { return nil }
        return Page.Section(id: "findings", title: "What was found") {
            FindingList(findings: report.findings.worstFirst).markup
        }
    }

    private var packSection: Page.Section {
        let bySize = report.packs.sorted { $0.openedSize > $1.openedSize }
        let updates = report.updates
        var columns: [PageTable<ContentPlan.Pack>.Column] = [
            .text("Pack") { $0.id.description }, .text("Policy") { $0.offer.policy.rawValue },
            .size("Opened") { $0.openedSize },
            .bar("Size relative to the largest", of: bySize.first?.openedSize ?? 0) {
                [($0.openedSize, "first")]
            },
            .number("Files") { "\($0.entryCount)" },
            .size("Published, sealed") { $0.published?.length },
            .number("Version") { $0.published.map { "\($0.version)" } },
        ]
        if let updates { columns.append(.size("Update") { updates[$0.id] }) }
        columns += [
            .text("Tags") { $0.offer.tags.unlessEmpty?.joined(separator: ", ") },
            .text("Device") { $0.traitText },
            .text("For") { $0.audiences.unlessEmpty?.joined(separator: ", ") },
        ]
        let table = PageTable(
            id: "packs", caption: "The packs that the sources make; the largest first", columns: columns,
            rows: bySize
        ) { rest in
            "\(rest.count) smaller packs, opened \(Bar.size(rest.saturatingSum(\.openedSize))), are not shown."
        }
        return Page.Section(id: "packs", title: "Packs by size") { table.markup }
    }

    private var deviceSection: Page.Section {
        let whole = report.contents.map { $0.packs.saturatingSum(\.openedSize) }.max() ?? 0
        let policies: [(PackPolicy, String, String)] = [
            (.essential, "Essential", "first"), (.prefetch, "Prefetched", "second"),
            (.onDemand, "On demand", "third"),
        ]
        var columns: [PageTable<DeviceContent>.Column] = [
            .text("Device") { $0.name },
            .bar("Opened, relative to the largest", of: whole) { content in
                policies.map { (content.openedSize(of: [$0.0]), $0.2) }
            },
        ]
        columns += policies.map { policy, title, _ in .size(title) { $0.openedSize(of: [policy]) } }
        columns.append(.size("All, sealed") { $0.sealedSize })
        if report.updates != nil { columns.append(.size("Update") { report.updateSize(of: $0) }) }
        columns.append(.number("Packs") { "\($0.packs.count)" })
        let table = PageTable(
            id: "devices", caption: "What each kind of device gets; \"–\" where a pack is not published yet",
            columns: columns, rows: report.contents)
        return Page.Section(id: "devices", title: "What each device gets") {
            Markup("p", ["class": "quiet"]) {
                for (_, title, style) in policies {
                    Markup.swatch(style)
                    " \(title)  "
                }
            }
            table.markup
        }
    }

    private var tagSection: Page.Section? {
        let sizes = report.largest(\.tagSizes)
        guard !sizes.isEmpty else { return nil }
        let sealed = report.largest(\.sealedTagSizes)
        let table = PageTable<(key: String, value: UInt64)>(
            id: "tags", caption: "What a request by a tag brings to a device, at most",
            columns: [
                .text("Tag") { $0.key }, .size("Opened") { $0.value },
                .bar("Size relative to the largest", of: sizes.values.max() ?? 0) { [($0.value, "first")] },
                .size("Sealed") { sealed[$0.key] },
            ], rows: sizes.sorted { ($1.value, $0.key) < ($0.value, $1.key) })
        return Page.Section(id: "tags", title: "Tags") { table.markup }
    }

    private var conflictSection: Page.Section? {
        guard !report.plan.conflicts.isEmpty else { return nil }
        let table = PageTable<ContentPlan.Conflict>(
            id: "conflicts", caption: "Paths that several packs of a request have",
            columns: [
                .text("Path") { $0.path.string }, .text("Pack") { $0.first.description },
                .text("Other pack") { $0.other.description },
            ], rows: report.plan.conflicts)
        return Page.Section(id: "conflicts", title: "Conflicts") { table.markup }
    }
}
