import SealedPack
import StrictJSON
import VaultAuthoring
import VaultContent

/// Where a file goes, and why.
extension FileExplanation: Report {
    var lines: [String] {
        sources.flatMap { [$0.outcome.text(of: $0.id, path: path.string)] + $0.rules.map(\.line) }
    }

    var json: JSONObject {
        [
            "path": .string(path.string),
            "sources": .objects(sources) { source in
                var json: JSONObject = ["source": "\(source.id)", "rules": .objects(source.rules, \.json)]
                if case .pack(let id) = source.outcome { json["pack"] = "\(id)" }
                if case .excluded = source.outcome { json["excluded"] = true }
                return json
            },
        ]
    }
}

extension FileExplanation.Outcome {
    fileprivate func text(of source: PackID, path: String) -> String {
        switch self {
        case .pack(let id): "'\(path)' is in '\(id)'"
        case .untagged: "'\(path)' of '\(source)' is in no pack: no rule gives it a tag"
        case .excluded: "'\(path)' of '\(source)' is in no pack: \"include\" and \"exclude\" leave it out"
        }
    }
}

extension FileExplanation.Rule {
    fileprivate var line: String {
        let traits = traits.map { name, value in
            "\(name)=\(String(decoding: value.compact().dropLast(), as: UTF8.self))"
        }
        let given = tags.map { "'\($0)'" } + traits
        let text = given.joined(separator: ", ")
        return isDefault
            ? "  \(place) is the default\(isUsed ? ", and gives" : " where no rule gives a tag, and would give") \(text)"
            : "  \(place) matches, and gives \(text)"
    }

    fileprivate var json: JSONObject {
        [
            "place": .string(place), "tags": .texts(tags), "traits": .object(traits),
            "default": .bool(isDefault), "used": .bool(isUsed),
        ]
    }
}
