import SealedPack
import VaultBase
import VaultSite

/// What only audits find.
extension Finding {
    /// Several listings claim one pack.
    static func contested(_ listings: [ListedPack], at place: String) -> Finding {
        let names = listings.map { "'\($0.pack.id)'" }.joined(separator: " and ")
        return Finding(
            .error(.corrupt), "contested-content-key",
            "the site lists the packs \(names) with one content key",
            at: place, remedy: "find out who listed another pack's key, and publish without that listing")
    }

    /// A table of opaque names that is missing or damaged.
    static func lostNames(at place: String) -> Finding {
        Finding(
            .note, "lost-names", "clients can't find packs by name or tag without this table",
            at: place, remedy: "put the publisher's copy of it there")
    }

    /// A channel whose names are opaque lists no table of them.
    static func unnamed(_ channel: Channel, at place: String) -> Finding {
        Finding(
            .error(.missing), "missing-names",
            "the channel '\(channel)' has opaque names and lists no table of them: clients find its packs by no name or tag",
            at: place, remedy: "publish the vault again")
    }

    /// Another host has a newer state than the site.
    static func mirrorAhead(_ theirs: Int64, of ours: Int64, at place: String) -> Finding {
        .warning(
            "mirror-ahead",
            "the mirror has timestamp version \(theirs), and the site \(ours): clients of the mirror refuse the site",
            at: place,
            remedy:
                "if the site was not meant to go back, bring it to the newest state with 'mirror' or 'upload'"
        )
    }

    /// A file that `prune` removes once no client can need it.
    static func prunable(_ problem: String, at place: String) -> Finding {
        Finding(
            .note, "prunable", problem, at: place,
            remedy: "prune the site, which removes it once no client can need it", hint: .pruning)
    }

    /// A file or a part of it that is damaged.
    static func damaged(
        _ problem: String, at place: String, remedy: String, hint: Hint? = nil
    ) -> Finding {
        Finding(.error(.corrupt), "damaged", problem, at: place, remedy: remedy, hint: hint)
    }

    /// The first 100 notes of each code; the rest are counted.
    ///
    /// - Parameter kind: what the notes are about, such as `files that nothing names`.
    static func first(of notes: [Finding], kind: String, at place: String) -> [Finding] {
        var counts: [Code: Int] = [:]
        for note in notes { counts[note.code, default: 0] += 1 }
        var shown: [Code: Int] = [:]
        var findings: [Finding] = []
        for note in notes {
            shown[note.code, default: 0] += 1
            switch shown[note.code, default: 0] {
            case ...100: findings.append(note)
            case counts[note.code]:
                findings.append(
                    Finding(
                        note.severity, note.code, "\(counts[note.code, default: 0] - 100) more \(kind)",
                        at: place, remedy: note.remedy, hint: note.hint))
            default: break
            }
        }
        return findings
    }
}
