import SealedPack
import UpdateFramework
import VaultErrors

extension AuditReport: CustomStringConvertible {
    /// The report for people, without a newline at its end; the last line is the verdict.
    public var description: String {
        (heading + allFindings.map(\.description) + [verdict]).joined(separator: "\n")
    }

    /// The report line by line, without the errors: those are told by themselves, each as ``VaultErrors/VaultError``.
    public var lines: [String] {
        heading + allFindings.filter { $0.error == nil }.map(\.description) + [verdict]
    }

    private var heading: [String] {
        var lines = ["\(subject): \(trust.explanation)".escapingControls]
        lines +=
            Table(
                roles.map {
                    [
                        "", $0.role.description, "version \($0.version)", "expires \($0.expires)",
                        "\($0.daysLeft) days left",
                    ]
                }
            ).lines
        lines += Table(packs.map(\.cells)).lines
        return lines
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
        case .unsigned: "a pack by itself, not pinned to any signed metadata"
        }
    }
}

extension AuditedPack {
    fileprivate var cells: [String] {
        [
            word, id?.description ?? place.escapingControls,
            version.map { "version \($0)" } ?? "",
            "\(length) bytes", pieceCount.map { $0.counting("piece") } ?? "",
            verifiedEntries.map { $0 == 1 ? "1 entry verified" : "\($0) entries verified" } ?? "",
        ]
    }

    /// A pack that the keys don't open may be as good as any.
    private var word: String {
        if isSound { return "ok" }
        return findings.allSatisfy { $0.error?.category == .key } ? "LOCKED" : "BAD"
    }
}

/// Lines whose cells stand below each other.
private struct Table {
    let lines: [String]

    init(_ rows: [[String]]) {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        lines = rows.map { row in
            let padded = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            let line = padded.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
