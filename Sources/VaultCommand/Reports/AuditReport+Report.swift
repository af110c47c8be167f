import SealedPack
import StrictJSON
import UpdateFramework
import VaultAudit
import VaultErrors
import VaultKeys
import VaultSite

extension AuditReport: Report {
    /// All but the errors, which are printed by themselves; the last line is the verdict.
    var lines: [String] {
        var lines = ["\(subject): \(trust.explanation)"]
        lines += Self.table(
            roles.map {
                [
                    "", $0.role.description, "version \($0.version)", "expires \($0.expires)",
                    "\($0.daysLeft) days left",
                ]
            })
        lines += Self.table(packs.map(\.cells))
        lines += allFindings.filter { $0.error == nil }.map {
            "\($0.severity.name): \($0.place): \($0.problem); \($0.wordedRemedy)"
        }
        guard problemCount == 0 else { return lines + [problemCount.counting("problem")] }
        let rest = trust == .unsigned ? "bytes checked, none of them signed" : "bytes verified"
        return lines + ["ok: \(packs.count.counting("pack")), \(verifiedBytes) \(rest)"]
    }

    var json: JSONObject {
        [
            "subject": .string(subject), "ok": .bool(problemCount == 0), "pinned": .bool(isPinned),
            "trust": .string(trust.rawValue), "problems": .number(problemCount),
            "verifiedBytes": .number(verifiedBytes),
            "roles": .objects(roles) {
                [
                    "role": .string($0.role.name), "version": .number($0.version),
                    "expires": "\($0.expires)", "daysLeft": .number($0.daysLeft),
                ]
            },
            "packs": .objects(packs, \.json),
            "findings": .objects(findings, \.json),
        ]
    }

    /// Rows whose cells stand below each other.
    private static func table(_ rows: [[String]]) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let padded = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            return String(padded.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
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
    fileprivate var cells: [String] {
        [
            word, (name ?? id)?.description ?? place.escapingControls, version.map { "version \($0)" } ?? "",
            "\(length) bytes", pieceCount.map { $0.counting("piece") } ?? "",
            verifiedEntries.map { $0 == 1 ? "1 entry verified" : "\($0) entries verified" } ?? "",
            keyIDs.isEmpty ? "" : "for \(keyIDs.map(\.description).joined(separator: ", "))",
        ]
    }

    /// A pack that the keys don't open may be sound.
    private var word: String {
        if isSound { return "ok" }
        return findings.allSatisfy { $0.error?.category == .key } ? "LOCKED" : "BAD"
    }

    fileprivate var json: JSONObject {
        var object: JSONObject = [
            "place": .string(place), "ok": .bool(isSound), "length": .number(length),
            "findings": .objects(findings, \.json),
        ]
        object["id"] = (name ?? id).map { "\($0)" }
        if name != nil { object["listedID"] = id.map { "\($0)" } }
        object["version"] = version.map { .number($0) }
        object["keys"] = .texts(keyIDs)
        object["pieces"] = pieceCount.map { .number($0) }
        object["verifiedEntries"] = verifiedEntries.map { .number($0) }
        return object
    }
}
