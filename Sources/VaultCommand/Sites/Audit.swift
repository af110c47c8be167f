import ArgumentParser
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultFileSystem
import VaultSite
import VaultTransport

struct Audit: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Verify a site or a pack: every hosted byte without a key, every file with one.",
        discussion: """
            A site is a URL or a folder that holds metadata/; anything else is a pack. All problems are \
            listed; the exit code is that of the worst, in this order: 76 when the metadata can't be trusted \
            (then nothing that it lists is read) or have expired (then everything is still read), 65 for \
            damage and for missing files of a folder, 72 when a host does not have a listed file or the \
            metadata, 68 when it can't be reached, 69 when it fails, 77 for keys. With warnings alone it is 0. \
            Every root is read, since clients may pin any. Of a folder, everything that the kept metadata lists \
            is verified too: earlier versions that can be restored. A host's files can't be listed, so there it \
            is what the newest metadata lists; but the host is examined, too: parts of files, ETags, caching, \
            compression, its certificate, and what it answers for a file that is not there. Several packs \
            without a problem are one line; --json has all, with the vault keys that each is sealed for. \
            --against compares other hosts by their metadata and the lengths of their files; audit them, too, to \
            verify their bytes. For cron: --quiet prints nothing unless there is an error or a warning, or no \
            --trust was given, and no notes. Reports are written whatever is found, also when the audit can't \
            begin, but not for a wrong command line; each file is replaced at once.

            With --state, audits remember what they saw. A host that goes back to an earlier version, or has \
            other bytes under a number that was used, ends the audit with 76. With --sample or --budget one \
            run verifies all metadata and a part of the packs: first those that were damaged, then those \
            never verified, then those verified longest ago. So ten runs of 10% cover a site once, and the \
            report says how much is covered. The last pack is verified whole, even if the part is then \
            larger. A run that is stopped keeps what it verified.

            EXAMPLE
              assetvault audit https://cdn.example.com/game --trust trusted-root.json
              assetvault audit my-game/site --keys file:my-game/keys/vault.jwks --json
              assetvault audit my-game/site --trust my-game/trusted-root.json \\
                --quiet --expiry 7d --html audit.html
              assetvault audit https://cdn.example.com/game --state audit.json --sample 10%
              assetvault audit level-one.avpack
            """)

    @Argument(
        help: ArgumentHelp(
            "A pack, a site's folder, or its https, http or file URL.", valueName: "pack-or-site"),
        completion: .file())
    var subject: String

    @OptionGroup var manifestOptions: ManifestOptions
    @OptionGroup var keys: KeyOptions

    @Option(
        help: ArgumentHelp(
            """
            Warn of metadata and of a host's certificate that expire within this time; without it, of a role \
            with less than a quarter of its period left, and of a certificate with 14 days.
            """,
            valueName: "days"))
    var expiry: DayCount?

    @Option(
        help: ArgumentHelp(
            """
            Compare another host of the site with it: versions, and whether all files are there; repeatable.
            """,
            valueName: "url"))
    var against: [String] = []
    @OptionGroup var connection: TransportOptions

    @OptionGroup var memory: AuditMemoryOptions
    @OptionGroup var progress: ProgressOption

    @Flag(
        help: "Print nothing unless there is an error or a warning, or --trust is missing, and then no notes."
    )
    var quiet = false

    @Flag(help: "Print the report as JSON.")
    var json = false

    @OptionGroup var reports: ReportOptions

    func validate() throws {
        if json, reports.usesOutput {
            throw ValidationError("a report with '-' and --json both want standard output")
        }
        let written = try (reports.paths + memory.paths).map { try $0.absolute }
        guard Set(written).count == written.count else {
            throw ValidationError("each report and the state need a file of their own")
        }
        let site = try FilePath(subject).absolute
        if let own = written.first(where: { path in
            ["metadata", "targets"].contains { path.starts(with: site.appending($0)) }
        }) {
            throw ValidationError("\(own) would replace a file of the site; choose a file outside of it")
        }
    }

    func run() async throws {
        let (start, clock) = (UTCTime.now, ContinuousClock.now)
        func write(_ report: AuditReport) throws(VaultError) {
            try reports.write(AuditRun(report: report, start: start, duration: ContinuousClock.now - clock))
        }
        let bar = ProgressBar()
        defer { bar.finish() }
        let report: AuditReport
        do throws(VaultError) { report = try await audit(showing: bar) } catch {
            // Monitoring sees this, too, under the same name of the site; but not instead of what another run finds at this time, and not
            // for a wrong URL, which may have a password.
            if error.category != .busy, let place = (try? SiteLocation(subject))?.description {
                try? write(AuditReport(of: place, failing: error))
            }
            throw error
        }
        bar.finish()
        var errors = report.worstFirst.compactMap(\.error)
        do throws(VaultError) { try write(report) } catch { errors.append(error) }
        for error in errors { Console.note("assetvault: \(error.worded) [\(error.code.name)]") }
        // That a site is somebody else's is worse than what a warning says.
        let isSilent =
            quiet && report.trust != .unpinned && report.allFindings.allSatisfy { $0.severity == .note }
        let answer: any Report = quiet && !json ? QuietAudit(report: report) : report
        if !isSilent, !reports.usesOutput { answer.answer(asJSON: json) }
        if let gravest = errors.first { throw ReportedError(error: gravest) }
    }

    private func audit(showing bar: ProgressBar) async throws(VaultError) -> AuditReport {
        let location = try SiteLocation(subject)
        guard try location.isSite else {
            guard against.isEmpty else {
                throw VaultError(
                    .usage, "a pack has no other hosts", at: subject, remedy: "omit --against, or name a site"
                )
            }
            try memory.requireUnused(for: subject)
            let pack = location.path ?? FilePath(subject)
            return try await PackAudit(
                of: pack, by: try manifestOptions.evidence(for: pack), keys: try keys.cachedProvider(),
                now: .now
            ).run(bar.show)
        }
        guard manifestOptions.site == nil, manifestOptions.manifest == nil else {
            throw VaultError(
                .usage, "a site has its own manifests", at: subject,
                remedy: "omit --site and --manifest, or name a pack")
        }
        let transport = try connection.transport()
        var mirrors: [Site] = []
        for text in against {
            let location = try SiteLocation(text)
            try location.path?.requireSite()
            mirrors.append(Site(location, transport: transport))
        }
        return await SiteAudit(
            of: Site(location, transport: transport), pinnedRoot: try manifestOptions.trust.root(),
            keys: try keys.cachedProvider(), scratch: .temporaryFolder, now: .now, expiryNotice: expiry?.days,
            mirrors: mirrors, ledger: try memory.ledger()
        ).run(bar.show)
    }
}

extension SiteLocation {
    /// Whether it is a site, and not a pack: any http or https URL, and a folder that holds `metadata/`.
    fileprivate var isSite: Bool {
        get throws(VaultError) {
            guard let path else { return true }
            guard let kind = try FileSystem.status(of: path, followingLinks: true)?.kind else {
                throw path.noSuch("file or folder")
            }
            if kind == .folder { try path.requireSite() }
            return kind == .folder
        }
    }
}

/// What cron mails: no notes, and nothing of what is in order.
private struct QuietAudit: Report {
    let report: AuditReport

    var columns: [Column<Self>] {
        [
            .lines { ["\($0.report.subject): \($0.report.trust.explanation)"] },
            .lines { $0.report.lines { $0.severity == .warning } },
            .lines { $0.report.packs.filter { !$0.isSound }.flatMap { AuditedPack.columns.lines(of: $0) } },
            .lines { $0.report.coverage.map { AuditCoverage.columns.lines(of: $0) } ?? [] },
            .lines { [$0.report.verdict] },
        ]
    }
}

/// People see all but the errors, which are printed by themselves; the last line is the verdict.
extension AuditReport: Report {
    var columns: [Column<Self>] {
        [
            .number("format") { _ in 1 }, .lines { ["\($0.subject): \($0.trust.explanation)"] },
            .text("subject") { $0.subject }, .text("trust") { $0.trust.rawValue },
            .flag("ok") { $0.problemCount == 0 }, .flag("pinned") { $0.isPinned },
            .number("problems") { $0.problemCount }, .number("verifiedBytes") { $0.verifiedBytes },
            .table("roles", Self.roleColumns, isAligned: true) { $0.roles },
            .object("host") { $0.host.map { Self.hostColumns.json(of: $0) } },
            .lines { $0.lines { $0.error == nil } },
            .notable("packs", AuditedPack.columns, where: isShown, others: "ok") { $0.packs },
            .table("findings", Finding.columns) { $0.findings + ($0.host?.findings ?? []) },
            .object("coverage") { $0.coverage.map { AuditCoverage.columns.json(of: $0) } },
            .lines { $0.coverage.map { AuditCoverage.columns.lines(of: $0) } ?? [] },
            .lines { [$0.verdict] },
        ]
    }

    fileprivate func lines(_ isShown: (Finding) -> Bool) -> [String] {
        worstFirst.filter(isShown).map { "\($0.severity.name): \($0.place): \($0.worded) [\($0.code.name)]" }
    }

    private static var hostColumns: [Column<HostReport>] {
        [
            .text("tls") { $0.connection.tls }, .flag("http2") { $0.connection.speaksHTTP2 },
            .text("certificateExpires") {
                $0.connection.certificateEnd.flatMap { UTCTime(secondsSince1970: $0) }
            },
            .number("bytesPerSecond") { $0.bytesPerSecond },
        ]
    }

    /// Whether people see a line of it.
    private func isShown(_ pack: AuditedPack) -> Bool { !pack.isSound || packs.count == 1 }

    private static var roleColumns: [Column<TrustSummary.Role>] {
        [
            .text("role") { $0.role.name }, .words("  %") { $0.role.description },
            .number("version", "version %") { $0.version },
            .text("expires", "expires %") { $0.expires },
            .number("daysLeft") { $0.daysLeft },
            .words { $0.hasExpired ? "expired" : "\($0.daysLeft) days left" },
        ]
    }

    fileprivate var verdict: String {
        guard problemCount == 0 else { return problemCount.counting("problem") }
        let rest =
            switch trust {
            case .unsigned: "bytes checked, none of them signed"
            case .unpinned:
                "bytes verified by the site's own root: give --trust ROOT.json to verify whose site it is"
            case .pinned, .failed, .unread: "bytes verified"
            }
        let entries = packs.compactMap(\.verifiedEntries)
        let files = entries.reduce(0, +).counting("file")
        let opened = entries.isEmpty ? "" : "; opened and verified with keys: \(files)"
        return "ok: \(packs.count.counting("pack")), \(verifiedBytes) \(rest)\(opened)"
    }
}

extension AuditReport.Trust {
    var explanation: String {
        switch self {
        case .pinned: "verified from the root that was given"
        case .unpinned: "not pinned: consistent with the site's own first root, but nothing shows whose it is"
        case .failed: "not trusted, because its metadata could not be verified"
        case .unread: "not verified, because its host could not be read"
        case .unsigned: "a pack by itself, not pinned to any signed metadata"
        }
    }
}

extension AuditedPack {
    fileprivate static var columns: [Column<AuditedPack>] {
        [
            .words { $0.word }, .words { $0.shownName },
            .text("id") { $0.name ?? $0.id }, .text("listedID") { $0.name == nil ? nil : $0.id },
            .text("place") { $0.place }, .flag("ok") { $0.isSound },
            .number("version", "version %") { $0.version }, .number("length", "% bytes") { $0.length },
            .count("pieces", "%", of: "piece") { $0.pieceCount },
            .number("verifiedEntries") { $0.verifiedEntries },
            .words("% verified") { $0.verifiedEntries.map { $0 == 1 ? "1 entry" : "\($0) entries" } },
            .texts("keys", "for %") { $0.keyIDs }, .table("findings", Finding.columns) { $0.findings },
        ]
    }

    /// A pack that the keys don't open may be sound.
    var word: String {
        if isSound { return "ok" }
        return findings.allSatisfy { $0.error?.category == .key } ? "LOCKED" : "BAD"
    }
}
