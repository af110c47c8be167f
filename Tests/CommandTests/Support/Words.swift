import SystemPackage

/// A command line. Spaces separate its words, and `$NAME` stands for the words that the folder of the test has under that name, as in
/// the scripts. `\(…)` inserts a value, whatever it holds, into a word; or a list of words.
struct Words: ExpressibleByStringInterpolation, Sendable {
    fileprivate enum Part: Sendable {
        case text(String)
        case value(String)
        case list([String])
    }

    private var parts: [Part] = []

    init(stringLiteral text: String) { parts = [.text(text)] }
    init(stringInterpolation words: StringInterpolation) { parts = words.parts }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ text: String) { parts.append(.text(text)) }
        mutating func appendInterpolation(_ value: some StringProtocol) {
            parts.append(.value(String(value)))
        }
        mutating func appendInterpolation(_ value: some FixedWidthInteger) {
            parts.append(.value("\(value)"))
        }
        mutating func appendInterpolation(_ value: FilePath) { parts.append(.value(value.string)) }
        mutating func appendInterpolation(_ list: some Sequence<String>) { parts.append(.list(Array(list))) }
        mutating func appendInterpolation(_ words: Words) { parts += words.parts }
    }

    /// The words, with what the names stand for.
    func list(_ variables: [String: [String]] = [:]) -> [String] {
        var reading = Reading(variables: variables)
        for part in parts {
            switch part {
            case .text(let text): reading.read(text)
            case .value(let value): reading.word = (reading.word ?? "") + value
            case .list(let list): reading.insert(list)
            }
        }
        reading.endWord()
        return reading.words
    }

    private struct Reading {
        let variables: [String: [String]]
        var words: [String] = []
        var word: String?

        mutating func endWord() {
            if let word { words.append(word) }
            word = nil
        }

        /// The first one continues a word that was begun.
        mutating func insert(_ list: [String]) {
            guard let first = list.first else { return }
            word = (word ?? "") + first
            for next in list.dropFirst() {
                endWord()
                word = next
            }
        }

        mutating func read(_ text: String) {
            var rest = Substring(text)
            while let character = rest.popFirst() {
                let name = character == "$" ? rest.prefix { $0.isUppercase } : ""
                if let list = variables[String(name)] {
                    rest.removeFirst(name.count)
                    insert(list)
                } else if character == " " {
                    endWord()
                } else {
                    word = (word ?? "") + String(character)
                }
            }
        }
    }
}
