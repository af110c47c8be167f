import StrictJSON
import VaultErrors

extension Finding {
    /// What to do, with the command's words.
    var wordedRemedy: String { hint.map { "\(remedy) (\($0.words))" } ?? remedy }

    /// What is the case, and what to do, with the command's words.
    var worded: String { "\(problem); \(wordedRemedy)" }

    var json: JSONObject {
        var object: JSONObject = [
            "severity": .string(severity.name), "code": .string(code.name), "place": .string(place),
            "problem": .string(problem), "remedy": .string(wordedRemedy),
        ]
        if case .error(let category) = severity { object["category"] = .string(category.rawValue) }
        return object
    }
}
