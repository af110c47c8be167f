import VaultBase

/// The answer of a command: lines for people, or with `--json` one object for scripts. One table of columns defines both.
protocol Report {
    /// The cells and tables of the answer.
    var columns: [Column<Self>] { get }
    /// Printed for people on standard error, after the lines.
    var notes: [String] { get }
}

extension Report {
    /// The answer for people, a line of standard output each.
    var lines: [String] { columns.lines(of: self) }
    var json: JSONObject { columns.json(of: self) }
    var notes: [String] { [] }

    func answer(asJSON isJSON: Bool) {
        if isJSON { return Console.answer(json: json) }
        for line in lines { Console.answer(line) }
        for note in notes { Console.note(note) }
    }
}

/// What scripts and people see of a row: a member of its JSON object, a cell of its line, or both.
///
/// A label says how people see the value, which takes the place of `%`; without a label only scripts see it. Two spaces stand
/// between cells, none before a label that begins with a comma, a semicolon, a colon or a space. A value that is nil leaves
/// out member and cell.
struct Column<Row> {
    /// Of the member; nil for what only people see.
    fileprivate var name: String?
    fileprivate var label: String?
    fileprivate var value: (Row) -> JSONValue? = { _ in nil }
    fileprivate var text: (Row) -> String? = { _ in nil }
    /// Lines that stand below that of the row.
    fileprivate var below: (Row) -> [String] = { _ in [] }
}

extension Column {
    static func text<Value: CustomStringConvertible>(
        _ name: String, _ label: String? = nil, _ value: @escaping (Row) -> Value?
    ) -> Column {
        Column(
            name: name, label: label, value: { value($0).map { .string($0.description) } },
            text: { value($0)?.description })
    }

    static func number<Value: BinaryInteger>(
        _ name: String, _ label: String? = nil, _ value: @escaping (Row) -> Value?
    ) -> Column {
        Column(
            name: name, label: label, value: { value($0).map { .number($0) } },
            text: { value($0)?.description })
    }

    /// A number that people see with what is counted.
    static func count<Value: BinaryInteger>(
        _ name: String, _ label: String, of noun: String, _ value: @escaping (Row) -> Value?
    ) -> Column {
        var column = number(name, label, value)
        column.text = { value($0)?.counting(noun) }
        return column
    }

    /// A number of bytes that people see in a unit.
    static func size(_ name: String, _ label: String, _ bytes: @escaping (Row) -> UInt64?) -> Column {
        var column = number(name, label, bytes)
        column.text = { bytes($0).map { Bar.size($0) } }
        return column
    }

    /// People see the label where it is true.
    static func flag(_ name: String, _ label: String? = nil, _ value: @escaping (Row) -> Bool?) -> Column {
        Column(
            name: name, label: label, value: { value($0).map { .bool($0) } },
            text: { value($0) == true ? "" : nil })
    }

    /// People see none of an empty list.
    static func texts<Value: CustomStringConvertible>(
        _ name: String, _ label: String? = nil, _ values: @escaping (Row) -> [Value]?
    ) -> Column {
        Column(
            name: name, label: label, value: { values($0).map { .texts($0) } },
            text: { values($0)?.unlessEmpty?.map(\.description).joined(separator: ", ") })
    }

    /// Only for scripts.
    static func object(_ name: String, _ value: @escaping (Row) -> JSONObject?) -> Column {
        Column(name: name, value: { value($0).map { .object($0) } })
    }

    /// Only for people.
    static func words(_ label: String = "%", _ text: @escaping (Row) -> String?) -> Column {
        Column(label: label, text: text)
    }

    /// Only for people: lines of their own.
    static func lines(_ lines: @escaping (Row) -> [String]) -> Column { Column(below: lines) }

    /// Rows: an array of objects, and a line for each.
    ///
    /// - Parameters:
    ///   - name: nil for what only people see.
    ///   - isAligned: whether the cells of all lines stand below each other.
    static func table<Part>(
        _ name: String?, _ columns: [Column<Part>], isAligned: Bool = false,
        _ rows: @escaping (Row) -> [Part]?
    ) -> Column {
        Column(
            name: name, value: { rows($0).map { .array($0.map { .object(columns.json(of: $0)) }) } },
            below: { row in
                let rows = rows(row) ?? []
                return isAligned ? columns.alignedLines(of: rows) : rows.flatMap { columns.lines(of: $0) }
            })
    }

    /// Rows of packs, of which people see those that matter, and the number of the others behind a word.
    static func notable<Part>(
        _ name: String, _ columns: [Column<Part>], where isNotable: @escaping (Part) -> Bool,
        others word: String,
        _ packs: @escaping (Row) -> [Part]
    ) -> Column {
        var column = table(name, columns, packs)
        column.below = { row in
            let packs = packs(row)
            let shown = packs.filter(isNotable)
            let rest = (packs.count - shown.count).counting("pack")
            return shown.flatMap { columns.lines(of: $0) }
                + (shown.count < packs.count ? ["\(word)  \(rest)"] : [])
        }
        return column
    }

    /// The same table, which only scripts see.
    var onlyJSON: Column { Column(name: name, value: value) }

    /// The same column, whose member is `null` where the value is nil.
    var orNull: Column {
        var column = self
        column.value = { [value] in value($0) ?? .null }
        return column
    }

    fileprivate var joinsCell: Bool { label?.first.map { ",;: ".contains($0) } ?? false }

    fileprivate func cell(of row: Row) -> String? {
        guard let label, let text = text(row) else { return nil }
        guard let place = label.firstIndex(of: "%") else { return label }
        return label[..<place] + text + label[label.index(after: place)...]
    }
}

extension Array {
    func json<Row>(of row: Row) -> JSONObject where Element == Column<Row> {
        var object = JSONObject()
        for column in self {
            if let name = column.name { object[name] = column.value(row) }
        }
        return object
    }

    /// The line of the row, if it has cells, and what stands below.
    func lines<Row>(of row: Row) -> [String] where Element == Column<Row> {
        var line = ""
        for column in self {
            guard let cell = column.cell(of: row) else { continue }
            line += (line.isEmpty || column.joinsCell ? "" : "  ") + cell
        }
        return (line.isEmpty ? [] : [line]) + flatMap { $0.below(row) }
    }

    /// Each column is as wide as its widest cell.
    fileprivate func alignedLines<Row>(of rows: [Row]) -> [String] where Element == Column<Row> {
        let shown = filter { $0.label != nil }
        let rows = rows.map { row in shown.map { $0.cell(of: row) ?? "" } }
        let widths = shown.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            var line = cells.joined(separator: "  ")
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }

    /// Nil for an empty array.
    var unlessEmpty: Self? { isEmpty ? nil : self }
}

extension JSONValue {
    static func number(_ value: some BinaryInteger) -> JSONValue { .integer(Int64(clamping: value)) }

    static func texts(_ values: some Sequence<some CustomStringConvertible>) -> JSONValue {
        .array(values.map { .string($0.description) })
    }

    /// In one line.
    var compactText: String { String(decoding: compact().dropLast(), as: UTF8.self) }
}

extension Finding {
    /// What to do, with the command's words.
    var wordedRemedy: String { hint.map { "\(remedy) (\($0.words))" } ?? remedy }

    /// What is the case, and what to do, with the command's words.
    var worded: String { "\(problem); \(wordedRemedy)" }

    static var columns: [Column<Finding>] {
        [
            .text("severity") { $0.severity.name }, .text("code") { $0.code.name },
            .text("place") { $0.place }, .text("problem") { $0.problem }, .text("remedy") { $0.wordedRemedy },
            .text("category") { $0.error?.category.rawValue },
        ]
    }
}
