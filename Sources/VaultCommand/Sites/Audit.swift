import ArgumentParser
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultFileSystem
import VaultHTTP
import VaultSite
import VaultTransport

struct Audit: LongCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify a site or a pack: every hosted byte without a key, every file with one.",
        discussion: """
            A site is a URL or a folder that holds metadata/; anything else is a pack. All problems are listed; the exit code is \
            that of the worst: 76 when the metadata can't be trusted (then nothing that it lists is read) or have expired (then \
            all is), 65 for damage and for missing files of a folder, 68 when a host can't be reached, 69 when it fails, 72 when \
            it does not have a listed file, 77 for keys. Every root is read, since clients may pin any. Of a folder, everything \
            that the kept metadata lists is verified too: earlier versions that can be restored. A host's files can't be listed, \
            so there it is what the newest metadata lists; but the host is examined, too: parts of files, ETags, caching, and what \
            it answers for a file that is not there. Several packs without a problem are one line; --json has all, with the vault keys \
            that each is sealed for. For cron: --quiet prints nothing unless there is an error or a warning.

            EXAMPLE
              assetvault audit https://cdn.example.com/game --trust trusted-root.json
              assetvault audit my-game/site --keys file:my-game/keys/vault.jwks --json
              assetvault audit my-game/site --quiet --expiry 7d
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
            "Warn of metadata that expires within this time; without it, of a role with less than a quarter of its period left.",
            valueName: "days"))
    var expiry: DayCount?

    @OptionGroup var progress: ProgressOption

    @Flag(help: "Print nothing unless there is an error or a warning.")
    var quiet = false

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() async throws {
        let bars = StepBars()
        defer { bars.finish() }
        let report = try await audit(showing: bars)
        bars.finish()
        if quiet, report.allFindings.allSatisfy({ $0.severity == .note }) { return }
        report.answer(asJSON: json)
        guard let gravest = report.gravestError else { return }
        for error in report.errors where error != gravest { Console.error(error) }
        throw gravest
    }

    private func audit(showing bars: StepBars) async throws(VaultError) -> AuditReport {
        let location = try SiteLocation(subject)
        guard try location.isSite else {
            return try await PackAudit(
                of: location.path ?? FilePath(subject), by: try evidence(), keys: try keys.cachedProvider(),
                now: .now
            ).run { bars.show(Activity(name: $0.step.rawValue, pack: $0.pack), $0.done, of: $0.total) }
        }
        guard manifestOptions.site == nil, manifestOptions.manifest == nil else {
            throw VaultError(
                .usage, "a site has its own manifests", at: subject,
                remedy: "omit --site and --manifest, or name a pack")
        }
        return await SiteAudit(
            of: Site(location, transport: SchemeTransport()), pinnedRoot: try pinnedRoot(),
            keys: try keys.cachedProvider(), scratch: .temporaryFolder, now: .now, expiryNotice: expiry?.days
        ).run { bars.show(Activity(name: $0.step.rawValue, pack: $0.pack), $0.done, of: $0.total) }
    }

    private func evidence() throws(VaultError) -> PackAudit.Evidence {
        switch try manifestOptions.source() {
        case .site(let site, _): return .site(site, pinnedRoot: try pinnedRoot())
        case .file(let path): return .manifest(path)
        case .beside:
            let beside = try LocalPack(path: FilePath(subject)).manifestBeside
            return beside.map { .manifest($0) } ?? .nothing
        }
    }

    private func pinnedRoot() throws(VaultError) -> [UInt8]? {
        try manifestOptions.trust.root()
    }
}

extension SiteLocation {
    /// Whether it is a site, and not a pack: any http or https URL, and a folder that holds `metadata/`.
    fileprivate var isSite: Bool {
        get throws(VaultError) {
            guard let path else { return true }
            guard try FileSystem.status(of: path, followingLinks: true)?.kind == .folder else { return false }
            try path.requireSite()
            return true
        }
    }
}

/// People see all but the errors, which are printed by themselves; the last line is the verdict.
extension AuditReport: Report {
    var columns: [Column<Self>] {
        [
            .lines { ["\($0.subject): \($0.trust.explanation)"] },
            .text("subject") { $0.subject }, .text("trust") { $0.trust.rawValue },
            .flag("ok") { $0.problemCount == 0 }, .flag("pinned") { $0.isPinned },
            .number("problems") { $0.problemCount }, .number("verifiedBytes") { $0.verifiedBytes },
            .table("roles", Self.roleColumns, isAligned: true) { $0.roles },
            .notable("packs", AuditedPack.columns, where: isShown, others: "ok") { $0.packs },
            .table("findings", Finding.columns) { $0.findings },
            .lines { report in
                report.allFindings.filter { $0.error == nil }.map {
                    "\($0.severity.name): \($0.place): \($0.worded)"
                }
            },
            .lines { [$0.verdict] },
        ]
    }

    /// Whether people see a line of it.
    private func isShown(_ pack: AuditedPack) -> Bool { !pack.isSound || packs.count == 1 }

    private static var roleColumns: [Column<TrustSummary.Role>] {
        [
            .text("role") { $0.role.name }, .words("  %") { $0.role.description },
            .number("version", "version %") { $0.version },
            .text("expires", "expires %") { $0.expires },
            .number("daysLeft", "% days left") { $0.daysLeft },
        ]
    }

    private var verdict: String {
        guard problemCount == 0 else { return problemCount.counting("problem") }
        let rest = trust == .unsigned ? "bytes checked, none of them signed" : "bytes verified"
        let entries = packs.compactMap(\.verifiedEntries)
        let files = entries.reduce(0, +).counting("file")
        let opened = entries.isEmpty ? "" : "; opened and verified with keys: \(files)"
        return "ok: \(packs.count.counting("pack")), \(verifiedBytes) \(rest)\(opened)"
    }
}

extension AuditReport.Trust {
    fileprivate var explanation: String {
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
            .words { $0.word }, .words { ($0.name ?? $0.id)?.description ?? $0.place.escapingControls },
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
    private var word: String {
        if isSound { return "ok" }
        return findings.allSatisfy { $0.error?.category == .key } ? "LOCKED" : "BAD"
    }
}
