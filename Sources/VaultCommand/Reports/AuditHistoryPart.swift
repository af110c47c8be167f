import VaultAuthoring
import VaultBase

/// The sections of an audit's page that come from its state file: how the site grew, and how much of it was verified when.
struct AuditHistoryPart {
    let coverage: AuditCoverage
    let history: AuditHistory

    /// Of columns in a chart, and rows in its table.
    private static let limit = 40

    // MARK: - Growth

    var growthSection: Page.Section {
        let growth = history.growth.suffix(Self.limit)
        let steps = growth.indices.map { index in
            Step(run: growth[index], before: index > growth.startIndex ? growth[index - 1] : nil)
        }
        let table = PageTable<Step>(
            id: "growth", caption: "What the metadata listed, by version; the newest first",
            columns: [
                .text("Seen from") { $0.run.time.shown },
                .number("Version") { $0.run.version.map { "\($0)" } },
                .number("Packs") { "\($0.run.listed.packs)" }, .size("Size") { $0.run.listed.bytes },
                .number("Change") { $0.change },
            ], rows: steps.reversed())
        return Page.Section(id: "growth", title: "Growth between versions") {
            Markup("p", ["class": "quiet"]) { growthSentence(steps) }
            if steps.count > 1 {
                ColumnChart(
                    id: "growth", title: growthSentence(steps) + " The table below has the numbers.",
                    entries: steps.map(\.entry)
                ).markup
            }
            table.markup
        }
    }

    /// Versions of one size are one step.
    private struct Step {
        let run: AuditHistory.Run
        let before: AuditHistory.Run?

        var change: String? {
            guard let before = before?.listed.bytes else { return nil }
            let now = run.listed.bytes
            return now < before ? "−\(Bar.size(before - now))" : "+\(Bar.size(now - before))"
        }

        var name: String { run.version.map { "version \($0)" } ?? run.time.day }

        var entry: ColumnChart.Entry {
            ColumnChart.Entry(
                label: name, size: run.listed.bytes,
                explanation:
                    "\(name), from \(run.time.shown): \(run.listed.packs.counting("pack")), \(Bar.size(run.listed.bytes))"
            )
        }
    }

    private func growthSentence(_ steps: [Step]) -> String {
        guard let first = steps.first, let last = steps.last, steps.count > 1 else {
            return "The size has not changed since the first audit."
        }
        return
            "From \(Bar.size(first.run.listed.bytes)) in \(first.name) to \(Bar.size(last.run.listed.bytes)) in \(last.name), in \((steps.count - 1).counting("change"))."
    }

    // MARK: - Coverage

    var coverageSection: Page.Section {
        Page.Section(id: "coverage", title: "How much was verified, and when") {
            ageTable.markup
            runChart
        }
    }

    private struct AgeRow {
        let name: String
        let share: AuditCoverage.Share
        let withKeys: AuditCoverage.Share?
        let style: String
    }

    private var ageTable: PageTable<AgeRow> {
        var rows: [AgeRow] = []
        var before: Int?
        for age in history.ages {
            let name =
                switch (before, age.days) {
                case (nil, let days?): "Within \(days.counting("day"))"
                case (let before?, let days?): "\(before + 1) to \(days.counting("day")) ago"
                case (let before, nil): "More than \((before ?? 0).counting("day")) ago"
                }
            let isLate = before.map { $0 >= coverage.overdueDays } ?? false
            rows.append(
                AgeRow(
                    name: name, share: age.share, withKeys: age.withKeys,
                    style: isLate ? "warning" : "first"))
            before = age.days
        }
        rows.append(AgeRow(name: "Never", share: coverage.never, withKeys: nil, style: "warning"))
        let whole = coverage.listed.bytes
        return PageTable(
            id: "coverage",
            caption:
                "When the listed \(Bar.size(whole)) were last verified; after \(coverage.overdueDays.counting("day")) it is overdue",
            columns: [
                .text("Last verified") { $0.name },
                .bar("Share of all bytes", of: whole) { [($0.share.bytes, $0.style)] },
                .number("Share") { $0.share.bytes.percentage(of: whole) }, .size("Size") { $0.share.bytes },
                .number("Packs") { "\($0.share.packs)" },
                .size("Of it with keys") { $0.withKeys?.bytes },
            ], rows: rows)
    }

    @MarkupBuilder
    private var runChart: Markup {
        let runs = Array(history.runs.suffix(Self.limit))
        let table = PageTable<AuditHistory.Run>(
            id: "coverage-runs", caption: "What each audit verified; the newest first",
            columns: [
                .text("Audit") { $0.time.shown }, .size("Verified") { $0.verified.bytes },
                .size("Listed") { $0.listed.bytes },
                .number("Share") { $0.verified.bytes.percentage(of: $0.listed.bytes) },
                .number("Packs verified") { "\($0.verified.packs) of \($0.listed.packs)" },
                .number("Took") { $0.seconds.counting("second") },
            ], rows: runs.reversed())
        Markup("h3") { "Each audit" }
        if runs.count > 1 {
            Markup("p", ["class": "quiet"]) {
                Markup.swatch("first")
                " Verified  "
                Markup.swatch("whole")
                " Listed"
            }
            ColumnChart(
                id: "coverage",
                title:
                    "What each of the last \(runs.count) audits verified, beside what was listed. The table below has the numbers.",
                entries: runs.map { run in
                    ColumnChart.Entry(
                        label: run.time.day, size: run.verified.bytes, whole: run.listed.bytes,
                        explanation:
                            "\(run.time.shown): verified \(Bar.size(run.verified.bytes)) of \(Bar.size(run.listed.bytes))"
                    )
                }
            ).markup
        }
        table.markup
    }
}

extension UInt64 {
    /// Rounded down: 100 % is all of it.
    fileprivate func percentage(of whole: UInt64) -> String {
        guard whole > 0 else { return "–" }
        guard self > 0 else { return "0 %" }
        let tenths = (Double(self) / Double(whole) * 1000).rounded(.down)
        return self >= whole ? "100 %" : "\(Swift.min(tenths, 999) / 10) %"
    }
}
