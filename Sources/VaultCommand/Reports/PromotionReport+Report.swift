import SealedPack
import VaultAuthoring
import VaultErrors
import VaultSite

extension PromotionReport: Report {
    var columns: [Column<Self>] {
        [
            .text("channel") { $0.channel.name }, .table("packs", packColumns) { $0.packs }.onlyJSON,
            .table(nil, packColumns) { $0.packs.filter { $0.change != .unchanged } },
            .unchanged { $0.packs.count { $0.change == .unchanged } },
            .number("restoredSnapshot") { $0.restored?.version }.orNull,
            .texts("written") { $0.written }, .texts("toWrite") { $0.toWrite },
            .texts("warnings") { $0.warnings.map(\.worded) },
        ]
    }

    private var packColumns: [Column<Pack>] {
        [
            .text("change", "%") { $0.change.rawValue }, .text("id", "%") { names.shownID(of: $0.id) },
            .text("listedID") { names[listed: $0.id] == nil ? nil : $0.id },
            .number("from") { $0.earlier }.orNull, .number("version") { $0.version }.orNull,
            .words { $0.versions },
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
    fileprivate var versions: String {
        switch change {
        case .added: "version \(version ?? 0), a new name for clients"
        case .updated, .older: "version \(earlier ?? 0) to \(version ?? 0)"
        case .relabelled: "version \(version ?? 0), for other keys or with other labels"
        case .removed: "version \(earlier ?? 0), clients see it no more"
        case .unchanged: "version \(version ?? 0)"
        }
    }
}
