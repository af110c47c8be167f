/// A table without lines.
enum Columns {
    /// Each column is as wide as its widest cell; two spaces stand between.
    static func aligned(_ rows: [[String]]) -> [String] {
        let widths = (0..<(rows.map(\.count).max() ?? 0)).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (cell, width) in zip(row, widths) where width > 0 {
                line += (line.isEmpty ? "" : "  ") + cell + String(repeating: " ", count: width - cell.count)
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }
}
