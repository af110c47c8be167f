import SealedPack
import VaultAuthoring
import VaultBase
import VaultSite

extension PublicationReport: Report {
    var columns: [Column<Self>] {
        [
            .text("channel") { $0.channel?.name }.orNull,
            .notable("packs", Pack.columns, where: \.isChanged, others: "unchanged") { $0.packs },
            .table("rekeyed", Rekeyed.columns) { $0.rekeyed },
            .lines { Rekeyed.lines(of: $0.rekeyed) },
            .object("sizes") { $0.sizes.json },
            .lines { $0.sizes.upload > 0 || $0.packs.contains(where: \.isChanged) ? [$0.sizes.text] : [] },
            .table("restored", Restoration.columns) { $0.restorations },
            .texts("written") { $0.written }, .texts("toWrite") { $0.toWrite },
            .table("findings", Finding.columns) { $0.findings },
            .texts("warnings") { $0.warnings.map(\.worded) },
        ]
    }

    /// Prints the warnings, the report, and what follows from it.
    func answerWithAdvice(asJSON isJSON: Bool, isDryRun: Bool) {
        Console.warn(of: findings + warnings)
        answer(asJSON: isJSON)
        if isJSON { return }
        for restoration in restorations {
            Console.note(
                "the \(restoration.name) lists what it did under \(restoration.snapshot); 'assetvault restore' with --latest lists what the sources are"
            )
        }
        for pack in packs {
            if pack.isPinned, !restorations.contains(where: { $0.covers(pack.name ?? pack.id) }) {
                Console.note(
                    "\(pack.name ?? pack.id) was restored to version \(pack.version); 'assetvault restore' with --latest lists its source again"
                )
            }
        }
        if needsSettingsElsewhere {
            Console.note(
                "vault.json keeps this decision: commit it, or the next publication from elsewhere undoes it")
        }
        for (key, packs) in packsByDroppedKey {
            Console.note(
                "\(packs.map(\.description).listed(upTo: 6)) \(packs.count == 1 ? "is" : "are") no longer sealed for the vault key \(key)"
            )
        }
        if let channel { Console.noteListing(in: channel, isDryRun: isDryRun) }
        isDryRun ? Console.wroteNothing(but: toWrite) : Console.wrote(written, isOfTeam: isOfTeam)
    }
}

extension PublicationReport {
    fileprivate var packsByDroppedKey: [(key: String, packs: [PackID])] {
        var byKey: [String: [PackID]] = [:]
        for pack in packs {
            for key in pack.droppedKeys { byKey[key.text, default: []].append(pack.name ?? pack.id) }
        }
        return byKey.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension PublicationReport.Sizes {
    /// In exact bytes; `null` for an update that is unknown, or that no device has before the first publication.
    var json: JSONObject {
        [
            "firstInstall": .number(firstInstall), "update": update.map { .number($0) } ?? .null,
            "upload": .number(upload),
        ]
    }

    var text: String {
        let update = hasEarlier ? "update \(update.map(Bar.size) ?? "unknown")" : nil
        let parts = ["first install \(Bar.size(firstInstall))", update, "upload \(Bar.size(upload))"]
        return parts.compactMap(\.self).joined(separator: " · ")
    }
}

extension PublicationReport.Restoration {
    fileprivate static var columns: [Column<Self>] {
        [
            .text("tree") { $0.tree }, .text("channel") { $0.channel?.name },
            .number("snapshot") { $0.snapshot.version },
        ]
    }

    fileprivate var tree: PackID? {
        if case .tree(let family) = subject { family } else { nil }
    }

    fileprivate var channel: Channel? {
        if case .channel(let channel) = subject { channel } else { nil }
    }

    fileprivate var name: String {
        switch subject {
        case .tree(let family): "tree '\(family)'"
        case .channel(let channel): "channel '\(channel.name)'"
        }
    }

    fileprivate func covers(_ pack: PackID) -> Bool { tree.map { pack.isMember(of: $0) } ?? true }
}

extension PublicationReport.Pack {
    fileprivate static var columns: [Column<Self>] {
        [
            .text("change", "%") { $0.change.rawValue }, .words { "\($0.name ?? $0.id)" },
            .text("id") { $0.id }, .text("name") { $0.name }.orNull,
            .number("version", "version %") { $0.version }, .number("length", "% bytes") { $0.length },
            .count("pieces", ", %", of: "piece") { $0.pieces }, .number("reusedPieces") { $0.reusedPieces },
            .words(", %") { $0.remark }, .flag("pinned") { $0.isPinned }, .text("team") { $0.team }.orNull,
            .texts("droppedKeys") { $0.droppedKeys.map(\.id) },
            .table("others", PublicationReport.Other.columns) { $0.others },
            .table("updates", PublicationReport.Update.columns) { $0.updates },
        ]
    }

    fileprivate var isChanged: Bool { change != .unchanged }

    /// Details beside the word for the change.
    private var remark: String? {
        switch change {
        case .rekeyed: "for other keys"
        case .moved: "now from team \(team ?? "")"
        case .added, .updated, .unchanged, .removed: reusedPieces > 0 ? "\(reusedPieces) reused" : nil
        }
    }
}

extension PublicationReport.Other {
    fileprivate static var columns: [Column<Self>] {
        [
            .number("version", "  version % stays listed") { $0.version },
            .text("apps", " for apps %") { $0.apps },
        ]
    }
}

extension PublicationReport.Update {
    fileprivate static var columns: [Column<Self>] {
        [
            .number("from", "  update from version %:") { $0.version },
            .number("bytes", " % bytes") { $0.cost.bytes },
            .number("length") { $0.cost.length }, .words(" (% %)") { $0.cost.share },
            .count("requests", ", %", of: "request") { $0.cost.requests },
        ]
    }
}

extension PublicationReport.Rekeyed {
    static var columns: [Column<Self>] {
        [
            .text("channel") { $0.channel.name }, .text("id") { $0.id },
            .text("name") { $0.name }.orNull,
            .number("version") { $0.version }, .texts("droppedKeys") { $0.droppedKeys.map(\.id) },
        ]
    }

    /// One for each channel.
    static func lines(of packs: [Self], for keys: String = "the new keys") -> [String] {
        let byChannel = Dictionary(grouping: packs, by: \.channel.name).sorted { $0.key < $1.key }
        return byChannel.map { channel, packs in
            let names = packs.map { "\($0.name ?? $0.id) version \($0.version)" }.listed(upTo: 6)
            let verb = packs.count == 1 ? "is" : "are"
            return
                "\(packs.count.counting("pack")) in \(channel) \(verb) now sealed for \(keys): \(names)"
        }
    }
}

extension UpdateCost {
    /// In percent, with one decimal.
    fileprivate var share: String {
        let tenths = length > 0 ? Int((Double(bytes) / Double(length) * 1000).rounded()) : 0
        return "\(tenths / 10).\(tenths % 10)"
    }
}
