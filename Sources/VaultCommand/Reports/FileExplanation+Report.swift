import SealedPack
import StrictJSON
import VaultAuthoring
import VaultContent

/// Where a file goes, and why.
extension FileExplanation: Report {
    var columns: [Column<Self>] {
        [.text("path") { $0.path.string }, .table("sources", sourceColumns) { $0.sources }]
    }

    private var sourceColumns: [Column<Source>] {
        [
            .text("source") { $0.id }, .words { $0.text(for: path.string) },
            .text("pack") { source -> PackID? in
                guard case .pack(let id) = source.outcome else { return nil }
                return id
            },
            .flag("excluded") { source in
                guard case .excluded = source.outcome else { return nil }
                return true
            },
            .table("rules", FileExplanation.Rule.columns) { $0.rules },
        ]
    }
}

extension FileExplanation.Source {
    fileprivate func text(for path: String) -> String {
        switch outcome {
        case .pack(let id): "'\(path)' is in '\(id)'"
        case .untagged: "'\(path)' of '\(id)' is in no pack: no rule gives it a tag"
        case .excluded: "'\(path)' of '\(id)' is in no pack: \"include\" and \"exclude\" leave it out"
        }
    }
}

extension FileExplanation.Rule {
    fileprivate static var columns: [Column<Self>] {
        [
            .text("place", "  %") { $0.place }, .words(" %") { $0.effect }, .texts("tags") { $0.tags },
            .object("traits") { $0.traits }, .flag("default") { $0.isDefault }, .flag("used") { $0.isUsed },
        ]
    }

    private var effect: String {
        let traits = traits.map { name, value in
            "\(name)=\(String(decoding: value.compact().dropLast(), as: UTF8.self))"
        }
        let text = (tags.map { "'\($0)'" } + traits).joined(separator: ", ")
        return isDefault
            ? "is the default\(isUsed ? ", and gives" : " where no rule gives a tag, and would give") \(text)"
            : "matches, and gives \(text)"
    }
}
