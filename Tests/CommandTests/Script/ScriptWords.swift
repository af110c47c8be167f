/// The words of a script's line, split as by a shell: `'…'` is literal, in `"…"` and elsewhere `$NAME` stands for a variable's text.
/// A word without quotes may be a variable of several words, or a pattern with `*`, which stands for the paths that match it.
/// A word `|` ends one command and begins the next.
struct ScriptWords {
    let variables: [String: String]
    /// Returns the paths that match a pattern, sorted.
    let matches: (String) throws -> [String]

    /// The words of each command of a line.
    func commands(in line: String) throws -> [[String]] {
        var commands: [[String]] = [[]]
        var rest = line[...]
        while true {
            rest = rest.drop { $0 == " " }
            guard !rest.isEmpty else { return commands }
            var (word, isQuoted) = ("", false)
            while let character = rest.first, character != " " {
                rest.removeFirst()
                switch character {
                case "'": (word, isQuoted) = (word + (try quoted(until: "'", from: &rest)), true)
                case "\"":
                    (word, isQuoted) = (word + (try expand(quoted(until: "\"", from: &rest))), true)
                case "$": word += try value(of: name(from: &rest))
                default: word.append(character)
                }
            }
            let last = commands.count - 1
            if isQuoted {
                commands[last].append(word)
            } else if word == "|" {
                commands.append([])
            } else {
                for part in word.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
                    commands[last] += part.contains("*") ? try paths(String(part)) : [String(part)]
                }
            }
        }
    }

    private func quoted(until end: Character, from rest: inout Substring) throws -> String {
        guard let index = rest.firstIndex(of: end) else { throw ScriptFailure("a \(end) is missing") }
        defer { rest = rest[rest.index(after: index)...] }
        return String(rest[..<index])
    }

    private func expand(_ text: String) throws -> String {
        var (rest, result) = (text[...], "")
        while let character = rest.popFirst() {
            result += character == "$" ? try value(of: name(from: &rest)) : String(character)
        }
        return result
    }

    private func name(from rest: inout Substring) -> String {
        let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        rest = rest[name.endIndex...]
        return String(name)
    }

    private func value(of name: String) throws -> String {
        guard let value = variables[name] else { throw ScriptFailure("$\(name) is not set") }
        return value
    }

    /// A pattern that nothing matches stands for itself, as in a shell.
    private func paths(_ pattern: String) throws -> [String] {
        let found = try matches(pattern)
        return found.isEmpty ? [pattern] : found
    }
}
