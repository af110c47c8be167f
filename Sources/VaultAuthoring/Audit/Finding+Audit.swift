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
            at: place, remedy: "find out who signed the one that is not the pack's, and publish without it")
    }

    /// A table of opaque names that is missing or damaged.
    static func lostNames(at place: String) -> Finding {
        Finding(
            .note, "lost-names", "without this table clients find no pack that it names by its name or a tag",
            at: place, remedy: "put the publisher's copy of it there")
    }

    /// A channel whose names are opaque lists no table of them.
    static func unnamed(_ channel: Channel, at place: String) -> Finding {
        Finding(
            .error(.missing), "missing-names",
            "the channel '\(channel)' has opaque names and lists no table of them: clients find its packs by no name or tag",
            at: place, remedy: "publish the vault again")
    }

    /// A file that is needed until no client can need it any more.
    static func prunable(_ problem: String, at place: String) -> Finding {
        Finding(
            .note, "prunable", problem, at: place,
            remedy: "prune the site: it is removed when no client can need it any more", hint: .pruning)
    }

    /// A file or a part of it that is damaged.
    static func damaged(_ problem: String, at place: String, remedy: String) -> Finding {
        Finding(.error(.corrupt), "damaged", problem, at: place, remedy: remedy)
    }

    /// The first 100 of many notes on a site; the rest are counted.
    ///
    /// - Parameter kind: what the rest are, such as `files that nothing names`.
    static func first(of notes: [Finding], kind: String, at place: String) -> [Finding] {
        let rest = notes.dropFirst(100).count
        guard rest > 0 else { return notes }
        return notes.dropLast(rest) + [
            Finding(
                .note, "prunable", "\(rest) more \(kind)", at: place,
                remedy: "prune the site: they are removed when no client can need them any more",
                hint: .pruning)
        ]
    }
}
