import SealedPack
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultSite

/// The page of an audit: the verdict, what to do, and what the site consists of.
struct AuditPage {
    let run: AuditRun

    private var report: AuditReport { run.report }
    private static let mapLimit = 50

    var page: Page {
        let findings = report.allFindings
        let level = Page.Level(of: findings)
        let sections: [Page.Section?] = [
            findingSection, damageSection, packSection, historyPart?.growthSection,
            historyPart?.coverageSection, expirySection, hostSection, keySection,
        ]
        return Page(
            kind: "Audit of \(report.subject)", level: level, verdict: verdict(level, findings),
            details: [
                "\(report.trust.explanation.withUppercasedFirst).",
                "Begun \(run.start.shown), took \(run.seconds) seconds.",
            ],
            figures: figures, sections: sections.compactMap(\.self),
            footer: "assetvault \(AssetVaultCommand.release) audit, exit code \(run.exitCode)")
    }

    private func verdict(_ level: Page.Level, _ findings: [Finding]) -> String {
        switch level {
        case .error: report.problemCount.counting("problem")
        case .warning: "No problem, but \(findings.count { $0.severity == .warning }.counting("warning"))"
        case .good, .note: isWhole ? "Everything is sound" : "What was verified is sound"
        }
    }

    /// Whether this run has verified all that is listed.
    private var isWhole: Bool { report.coverage.map { $0.inThisRun == $0.listed } ?? true }

    private var figures: [Page.Figure] {
        let packs = run.packs
        let findings = report.allFindings
        let (warnings, notes) = (
            findings.count { $0.severity == .warning }, findings.count { $0.severity == .note }
        )
        let next = report.roles.min { $0.expires < $1.expires }
        return [
            Page.Figure(name: "Sound packs", value: "\(packs.sound) of \(packs.listed)"),
            Page.Figure(name: "Verified", value: Bar.size(report.verifiedBytes), detail: verifiedEntries),
            Page.Figure(
                name: "Findings", value: "\(report.problemCount.counting("error"))",
                detail: "\(warnings.counting("warning")), \(notes.counting("note"))"),
            report.coverage.map { coverage in
                Page.Figure(
                    name: "Verified within \(coverage.overdueDays.counting("day"))",
                    value: "\(Bar.size(coverage.recent.bytes)) of \(Bar.size(coverage.listed.bytes))",
                    detail: "never: \(coverage.never.packs.counting("pack"))")
            },
            next.map {
                Page.Figure(name: "Next expiry", value: $0.timeLeft, detail: $0.role.description)
            },
        ].compactMap(\.self)
    }

    private var verifiedEntries: String? {
        let counts = report.packs.compactMap(\.verifiedEntries)
        return counts.isEmpty ? nil : "and opened: \(counts.reduce(0, +).counting("file"))"
    }

    private var findingSection: Page.Section {
        let findings = report.worstFirst
        return Page.Section(id: "findings", title: "What was found") {
            if findings.isEmpty {
                Markup("p") { "Nothing: no error, no warning, no note." }
            } else {
                FindingList(findings: findings).markup
            }
        }
    }

    private var damageSection: Page.Section? {
        let damaged = report.packs.filter { !$0.damagedPieces.isEmpty }
        guard !damaged.isEmpty else { return nil }
        return Page.Section(id: "damage", title: "Damaged pieces") {
            Markup("p", ["class": "quiet"]) {
                "Each cell is a piece, from the start of the pack to its end. A cross marks damage."
            }
            for pack in damaged.prefix(Self.mapLimit) {
                Markup("h3") { pack.shownName }
                PieceMap(
                    name: pack.shownName, pieceCount: Int(pack.pieceCount ?? 0), damaged: pack.damagedPieces
                ).markup
            }
            if damaged.count > Self.mapLimit {
                Markup("p") {
                    "Damage in \((damaged.count - Self.mapLimit).counting("more pack")) is not shown."
                }
            }
        }
    }

    private var packSection: Page.Section? {
        guard !report.packs.isEmpty else { return nil }
        let bySize = report.packs.sorted { $0.length > $1.length }
        let table = PageTable<AuditedPack>(
            id: "packs",
            caption:
                "\(report.packs.count.counting("pack")), \(Bar.size(report.packs.saturatingSum(\.length))); the largest first",
            columns: [
                .text("Pack") { $0.shownName },
                .init(title: "State") { $0.badge },
                .size("Size") { $0.length },
                .bar("Size relative to the largest", of: bySize.first?.length ?? 0) {
                    [($0.length, $0.isSound ? "first" : "error")]
                },
                .number("Pieces") { $0.pieceCount.map { "\($0)" } },
                .number("Version") { $0.version.map { "\($0)" } },
                .number("Files opened") { $0.verifiedEntries.map { "\($0)" } },
            ], rows: bySize
        ) { rest in
            "\(rest.count) smaller packs, \(Bar.size(rest.saturatingSum(\.length))), are not shown; "
                + "\(rest.count { !$0.isSound }) of them are not sound."
        }
        return Page.Section(id: "packs", title: "Packs by size") { table.markup }
    }

    /// Nil without an audit ledger.
    private var historyPart: AuditHistoryPart? {
        guard let coverage = report.coverage, let history = report.history else { return nil }
        return AuditHistoryPart(coverage: coverage, history: history)
    }

    private var expirySection: Page.Section? {
        guard !report.roles.isEmpty else { return nil }
        let table = PageTable<TrustSummary.Role>(
            id: "expiry", caption: "The roles of the metadata; the next to expire first",
            columns: [
                .text("Role") { $0.role.description },
                .init(title: "State") { level(of: $0).badge(word(for: $0)) },
                .text("Expires") { $0.expires.shown }, .text("Time left") { $0.timeLeft },
                .number("Version") { "\($0.version)" },
            ], rows: report.roles.sorted { $0.expires < $1.expires })
        let calendar = ExpiryCalendar(
            entries: report.roles.map { role in
                ExpiryCalendar.Entry(
                    name: role.role.description,
                    daysLeft: Double(role.expires.secondsSince1970 - run.start.secondsSince1970) / 86_400,
                    timeLeft: role.timeLeft, level: level(of: role))
            })
        return Page.Section(id: "expiry", title: "When metadata expires") {
            Markup("p", ["class": "quiet"]) {
                "Clients accept nothing new from a site whose metadata has expired."
            }
            Markup(scrolling: "calendar-title") { calendar.markup }
            table.markup
        }
    }

    private func level(of role: TrustSummary.Role) -> Page.Level {
        Page.Level(of: run.findings(about: role))
    }

    private func word(for role: TrustSummary.Role) -> String {
        switch level(of: role) {
        case .error: "expired"
        case .warning: "soon"
        case .good, .note: "valid"
        }
    }

    private var hostSection: Page.Section? {
        guard let findings = report.host?.findings else { return nil }
        let table = PageTable<Finding>(
            id: "host", caption: "How the host serves files",
            columns: [
                .text("File") { $0.place },
                .init(title: "Severity") { Page.Level($0.severity).badge($0.severity.name) },
                .text("Effect on clients") { $0.problem }, .text("What to do") { $0.wordedRemedy },
            ], rows: findings)
        return Page.Section(id: "host", title: "The host") {
            if findings.isEmpty {
                Markup("p") {
                    "Range requests, ETags, caching and missing files (404) work as clients need them."
                }
            } else {
                table.markup
            }
        }
    }

    private var keySection: Page.Section? {
        var packs: [KeyID: [AuditedPack]] = [:]
        for pack in report.packs {
            for key in pack.keyIDs { packs[key, default: []].append(pack) }
        }
        guard !packs.isEmpty else { return nil }
        let table = PageTable<(key: KeyID, value: [AuditedPack])>(
            id: "keys", caption: "The vault keys that the packs are sealed for",
            columns: [
                .init(title: "Key") { row in Markup("code") { row.key.description } },
                .number("Packs") { "\($0.value.count)" },
                .size("Size") { $0.value.saturatingSum(\.length) },
                .bar("Share of all packs", of: report.packs.saturatingSum(\.length)) {
                    [($0.value.saturatingSum(\.length), "first")]
                },
                .text("Opens") { $0.value.map(\.shownName).listed(upTo: 6) },
            ],
            rows: packs.sorted { ($0.value.count, $1.key.description) > ($1.value.count, $0.key.description) }
        )
        return Page.Section(id: "keys", title: "Keys and what they open") { table.markup }
    }
}

extension AuditedPack {
    var shownName: String { (name ?? id)?.description ?? place }

    fileprivate var badge: Markup {
        (isSound ? Page.Level.good : .error).badge(word.lowercased())
    }
}

extension TrustSummary.Role {
    fileprivate var timeLeft: String {
        switch daysLeft {
        case _ where hasExpired: "expired"
        case 0: "less than a day"
        default: Int(clamping: daysLeft).counting("day")
        }
    }
}
