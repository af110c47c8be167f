import SealedPack
import StrictJSON
import VaultAuthoring
import VaultErrors
import VaultKeys
import VaultSite

extension PublicationReport: Report {
    var lines: [String] {
        let changed = packs.filter { $0.change != .unchanged }
        let rest = packs.count - changed.count
        return changed.flatMap(\.lines) + (rest > 0 ? ["unchanged  \(rest.counting("pack"))"] : [])
            + resealedLines
    }

    /// One for each channel.
    private var resealedLines: [String] {
        let byChannel = Dictionary(grouping: resealed, by: \.channel.name).sorted { $0.key < $1.key }
        return byChannel.map { channel, packs in
            let names = packs.map { "\($0.name ?? $0.id) version \($0.version)" }.listed(upTo: 6)
            return
                "resealed  \(packs.count.counting("pack")) in the channel \(channel), for other keys: \(names)"
        }
    }

    var json: JSONObject {
        [
            "channel": channel.map { .string($0.name) } ?? .null,
            "packs": .objects(packs) { pack in
                [
                    "id": "\(pack.id)", "name": pack.name.map { .string($0.description) } ?? .null,
                    "version": .number(pack.version),
                    "change": .string(pack.change.rawValue), "length": .number(pack.length),
                    "pieces": .number(pack.pieces), "reusedPieces": .number(pack.reusedPieces),
                    "pinned": .bool(pack.isPinned),
                    "others": .objects(pack.others) {
                        ["version": .number($0.version), "apps": "\($0.apps)"]
                    }, "updates": .objects(pack.updates, \.json),
                    "droppedKeys": .texts(pack.droppedKeys.map(\.id)),
                    "team": pack.team.map { .string($0) } ?? .null,
                ]
            },
            "resealed": .objects(resealed) {
                [
                    "channel": .string($0.channel.name), "id": "\($0.id)",
                    "name": $0.name.map { .string($0.description) } ?? .null,
                    "version": .number($0.version), "droppedKeys": .texts($0.droppedKeys.map(\.id)),
                ]
            },
            "restored": .objects(restorations) {
                [$0.member.name: .string($0.member.value), "snapshot": .number($0.snapshot.version)]
            },
            "written": .texts(written), "toWrite": .texts(toWrite), "findings": .objects(findings, \.json),
            "warnings": .texts(warnings.map(\.worded)),
        ]
    }

    /// Prints the warnings, the report, and what follows from it.
    func answerWithAdvice(asJSON isJSON: Bool, isDryRun: Bool = false) {
        for finding in findings { Console.note("warning: \(finding.worded)") }
        for warning in warnings { Console.note("warning: \(warning.worded)") }
        answer(asJSON: isJSON)
        if isJSON { return }
        for restoration in restorations {
            let (kind, name) = restoration.member
            Console.note(
                "the \(kind) '\(name)' lists what it did under \(restoration.snapshot); 'assetvault restore' with --latest lists what the sources are"
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

extension PublicationReport.Restoration {
    /// What it is, and its name.
    fileprivate var member: (name: String, value: String) {
        switch subject {
        case .tree(let family): ("tree", family.description)
        case .channel(let channel): ("channel", channel.name)
        }
    }

    fileprivate func covers(_ pack: PackID) -> Bool {
        switch subject {
        case .tree(let family): pack.isMember(of: family)
        case .channel: true
        }
    }
}

extension PublicationReport.Pack {
    fileprivate var lines: [String] {
        [
            "\(change.rawValue)  \(name ?? id)  version \(version)  \(length) bytes, \(pieces.counting("piece"))\(remark)"
        ] + others.map { "  version \($0.version) stays listed for apps \($0.apps)" }
            + updates.map { "  from version \($0.version)  \($0.cost.text)" }
    }

    /// Details beside the word for the change.
    fileprivate var remark: String {
        switch change {
        case .resealed: ", for other keys"
        case .moved: ", now from team \(team ?? "")"
        case .added, .updated, .unchanged, .removed: reusedPieces > 0 ? ", \(reusedPieces) reused" : ""
        }
    }
}

extension PublicationReport.Update {
    fileprivate var json: JSONObject {
        [
            "from": .number(version), "bytes": .number(cost.bytes), "length": .number(cost.length),
            "requests": .number(cost.requests),
        ]
    }
}

extension UpdateCost {
    fileprivate var text: String {
        let tenths = length > 0 ? Int((Double(bytes) / Double(length) * 1000).rounded()) : 0
        return "\(bytes) bytes (\(tenths / 10).\(tenths % 10) %), \(requests.counting("request"))"
    }
}
