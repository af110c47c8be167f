import SealedPack
import UpdateFramework
import VaultAudit
import VaultErrors
import VaultKeys
import VaultSite

/// People see all but the errors, which are printed by themselves; the last line is the verdict.
extension AuditReport: Report {
    var columns: [Column<Self>] {
        [
            .lines { ["\($0.subject): \($0.trust.explanation)"] },
            .text("subject") { $0.subject }, .text("trust") { $0.trust.rawValue },
            .flag("ok") { $0.problemCount == 0 }, .flag("pinned") { $0.isPinned },
            .number("problems") { $0.problemCount }, .number("verifiedBytes") { $0.verifiedBytes },
            .table("roles", Self.roleColumns, isAligned: true) { $0.roles },
            .table("packs", AuditedPack.columns, isAligned: true) { $0.packs },
            .table("findings", Finding.columns) { $0.findings },
            .lines { report in
                report.allFindings.filter { $0.error == nil }.map {
                    "\($0.severity.name): \($0.place): \($0.worded)"
                }
            },
            .lines { [$0.verdict] },
        ]
    }

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
        return "ok: \(packs.count.counting("pack")), \(verifiedBytes) \(rest)"
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
