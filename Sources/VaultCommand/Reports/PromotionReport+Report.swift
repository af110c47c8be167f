import SealedPack
import StrictJSON
import VaultAuthoring
import VaultErrors
import VaultSite

extension PromotionReport: Report {
    var lines: [String] {
        let changed = packs.filter { $0.change != .unchanged }
        let rest = packs.count - changed.count
        return changed.map { $0.line(as: names.shownID(of: $0.id)) }
            + (rest > 0 ? ["unchanged  \(rest.counting("pack"))"] : [])
    }

    var json: JSONObject {
        [
            "channel": .string(channel.name),
            "packs": .objects(packs) { pack in
                var json: JSONObject = [
                    "id": "\(names.shownID(of: pack.id))", "change": .string(pack.change.rawValue),
                    "from": pack.earlier.map { .number($0) } ?? .null,
                    "version": pack.version.map { .number($0) } ?? .null,
                ]
                if names[listed: pack.id] != nil { json["listedID"] = "\(pack.id)" }
                return json
            },
            "restoredSnapshot": restored.map { .number($0.version) } ?? .null,
            "written": .texts(written), "toWrite": .texts(toWrite),
            "warnings": .texts(warnings.map(\.worded)),
        ]
    }

    /// Prints the warnings, the report, and what was written.
    func answerWithAdvice(asJSON isJSON: Bool, isDryRun: Bool) {
        for warning in warnings { Console.note("warning: \(names.naming(warning.worded))") }
        answer(asJSON: isJSON)
        if isJSON { return }
        if let restored { Console.note("the channel lists what it did under \(restored)") }
        Console.noteListing(in: channel, isDryRun: isDryRun)
        isDryRun ? Console.wroteNothing(but: toWrite) : Console.wrote(written)
    }
}

extension PromotionReport.Pack {
    fileprivate func line(as id: PackID) -> String {
        let versions =
            switch change {
            case .added: "version \(version ?? 0), a new name for clients"
            case .updated, .older: "version \(earlier ?? 0) to \(version ?? 0)"
            case .relabelled: "version \(version ?? 0), for other keys or with other labels"
            case .removed: "version \(earlier ?? 0), clients see it no more"
            case .unchanged: "version \(version ?? 0)"
            }
        return "\(change.rawValue)  \(id)  \(versions)"
    }
}
