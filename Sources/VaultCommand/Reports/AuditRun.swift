import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultSite

/// An audit that has ended, as the formats of its report show it.
struct AuditRun {
    let report: AuditReport
    let start: UTCTime
    let duration: Duration

    /// With three decimals.
    var seconds: String {
        let milliseconds = max(0, Int(duration / .milliseconds(1)))
        let decimals = String(milliseconds % 1000 + 1000).dropFirst()
        return "\(milliseconds / 1000).\(decimals)"
    }

    var end: UTCTime {
        UTCTime(secondsSince1970: start.secondsSince1970 + duration.components.seconds) ?? .latest
    }

    var exitCode: Int32 { report.gravestError?.category.exitCode ?? 0 }

    /// Listed packs by what was found when they were last looked at; with an audit ledger, other listed files count, too.
    struct PackCounts {
        let listed, sound, bad: Int
        let bytes: UInt64

        /// Those that no run has looked at.
        var unverified: Int { listed - sound - bad }
    }

    var packs: PackCounts {
        if let coverage = report.coverage {
            return PackCounts(
                listed: coverage.listed.packs, sound: coverage.sound.packs, bad: coverage.bad.packs,
                bytes: coverage.listed.bytes)
        }
        let (packs, sound) = (report.packs, report.packs.count(where: \.isSound))
        return PackCounts(
            listed: packs.count, sound: sound, bad: packs.count - sound,
            bytes: packs.saturatingSum(\.length))
    }

    /// Findings about the site that are not about a role of its metadata.
    var siteFindings: [Finding] {
        let others = Set(report.roles.flatMap(findings))
        return report.findings.filter { !others.contains($0) }
    }

    func findings(about role: TrustSummary.Role) -> [Finding] {
        report.findings.filter { $0.place == role.role.fileName }
    }
}
