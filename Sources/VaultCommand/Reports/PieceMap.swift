import VaultBase

/// The pieces of a pack as cells in rows, with a cross where a piece is damaged. Many pieces share a cell.
struct PieceMap {
    let name: String
    let pieceCount: Int
    /// Ascending.
    let damaged: [Int]

    private static let cellLimit = 2400
    private static let rowLength = 60
    private static let pitch = 16

    /// How many pieces one cell stands for.
    private var piecesPerCell: Int { max(1, (pieceCount + Self.cellLimit - 1) / Self.cellLimit) }
    private var cellCount: Int { (pieceCount + piecesPerCell - 1) / piecesPerCell }

    var markup: Markup {
        let damagedCells = Set(damaged.lazy.filter { $0 < pieceCount }.map { $0 / piecesPerCell })
        var (sound, broken, crosses) = ("", "", "")
        for cell in 0..<cellCount {
            let (x, y) = (cell % Self.rowLength * Self.pitch, cell / Self.rowLength * Self.pitch)
            let square = "M\(x) \(y)h13v13h-13z"
            if damagedCells.contains(cell) {
                broken += square
                crosses += "M\(x + 3) \(y + 3)l7 7m0 -7l-7 7"
            } else {
                sound += square
            }
        }
        let width = min(cellCount, Self.rowLength) * Self.pitch
        let height = (cellCount + Self.rowLength - 1) / Self.rowLength * Self.pitch
        return Markup(joining: [
            Markup("p") { summary },
            Markup(
                "svg",
                [
                    "class": "map", "role": "img", "width": "\(width)", "height": "\(height)",
                    "viewBox": "0 0 \(width) \(height)",
                ]
            ) {
                Markup("title") { "The pieces of \(name): \(summary)" }
                Markup("path", ["class": "sound", "d": sound])
                Markup("path", ["class": "damaged", "d": broken])
                Markup("path", ["class": "cross", "d": crosses])
            },
        ])
    }

    private var summary: String {
        let scale = piecesPerCell > 1 ? " Each cell is \(piecesPerCell) pieces." : ""
        return "\(damaged.count) of \(pieceCount.counting("piece")) damaged: number \(ranges).\(scale)"
    }

    /// As `3, 7–9`.
    private var ranges: String {
        var ranges: [ClosedRange<Int>] = []
        for number in damaged {
            if let last = ranges.last, last.upperBound == number - 1 {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)" }
            .listed(upTo: 12)
    }
}
