/// A table in Markdown.
struct MarkdownTable {
    private var lines: [String]

    init(_ columns: String...) {
        lines = []
        add(columns)
        add(columns.map { _ in "---" })
    }

    mutating func add(_ cells: [String]) { lines.append("| \(cells.joined(separator: " | ")) |") }

    /// Nothing where nothing was added.
    var markdown: String { lines.count > 2 ? lines.joined(separator: "\n") : "" }
}

extension [String] {
    /// Text and tables, one below the other, without empty ones.
    var sections: String { filter { !$0.isEmpty }.joined(separator: "\n\n") }
}

extension Setting {
    var markdown: String {
        """
        \(machine.processor), \(machine.cores) cores, \(machine.memory.mebibytes.grouped) MiB, \
        Linux \(machine.kernel); load before the first round \(machine.load). assetvault \(assetvault).
        """
    }
}

extension [Verdict] {
    /// What is to be reached, and what is.
    var markdown: String {
        var table = MarkdownTable("work", "goal for", "measured", "at most", "reached")
        for verdict in self {
            table.add([
                verdict.work, verdict.figure, verdict.measured.short, verdict.most.short,
                verdict.isMet ? "yes" : "**no**",
            ])
        }
        return table.markdown
    }
}
