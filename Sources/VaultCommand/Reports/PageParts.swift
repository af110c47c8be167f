import VaultBase

/// A table of a page. The first column names the row.
struct PageTable<Row> {
    struct Column {
        let title: String
        var isNumber = false
        let cell: (Row) -> Markup
    }

    /// The section's ID, followed by a number if the section has several tables.
    let id: String
    let caption: String
    let columns: [Column]
    let rows: [Row]
    /// The sentence about rows that are not shown, of which there are some.
    var rest: (ArraySlice<Row>) -> String = { "Not shown: \($0.count.counting("row"))." }

    private static var rowLimit: Int { 200 }

    @MarkupBuilder var markup: Markup {
        table
        let hidden = rows.dropFirst(Self.rowLimit)
        if !hidden.isEmpty { Markup("p") { rest(hidden) } }
    }

    private var table: Markup {
        Markup(scrolling: "\(id)-caption") {
            Markup("table") {
                Markup("caption", ["id": "\(id)-caption"]) { caption }
                Markup("thead") {
                    Markup("tr") {
                        for column in columns {
                            Markup("th", ["scope": "col", "class": column.isNumber ? "number" : nil]) {
                                column.title
                            }
                        }
                    }
                }
                Markup("tbody") {
                    for row in rows.prefix(Self.rowLimit) {
                        Markup("tr") {
                            for (number, column) in columns.enumerated() {
                                cell(column, of: row, isFirst: number == 0)
                            }
                        }
                    }
                }
            }
        }
    }

    private func cell(_ column: Column, of row: Row, isFirst: Bool) -> Markup {
        isFirst
            ? Markup("th", ["scope": "row"]) { column.cell(row) }
            : Markup("td", ["class": column.isNumber ? "number" : nil]) { column.cell(row) }
    }
}

extension Markup {
    /// A region that scrolls where the screen is too narrow, also by keyboard.
    ///
    /// - Parameter label: the ID of the element that names it.
    init(scrolling label: String, @MarkupBuilder content: () -> Markup) {
        self.init(
            "div", ["class": "scroll", "role": "region", "tabindex": "0", "aria-labelledby": label],
            content: content)
    }
}

extension Markup {
    /// The legend swatch of a chart style.
    static func swatch(_ style: String) -> Markup {
        Markup(
            "svg", ["class": "swatch", "viewBox": "0 0 12 12", "aria-hidden": "true", "focusable": "false"]
        ) {
            Markup("rect", ["class": style, "width": "12", "height": "12", "rx": "2"])
        }
    }
}

extension PageTable.Column {
    static func text(_ title: String, _ text: @escaping (Row) -> String?) -> Self {
        Self(title: title) { Markup(text($0) ?? "–") }
    }

    static func number(_ title: String, _ text: @escaping (Row) -> String?) -> Self {
        Self(title: title, isNumber: true) { Markup(text($0) ?? "–") }
    }

    static func size(_ title: String, _ size: @escaping (Row) -> UInt64?) -> Self {
        number(title) { size($0).map(Bar.size) }
    }

    /// A stacked bar. The numbers are in columns of their own.
    static func bar(_ title: String, of whole: UInt64, _ parts: @escaping (Row) -> [SizeBar.Part]) -> Self {
        Self(title: title) { SizeBar(parts: parts($0), whole: whole).markup }
    }
}

/// A stacked bar of sizes, to the scale of `whole`.
struct SizeBar {
    typealias Part = (size: UInt64, style: String)

    let parts: [Part]
    let whole: UInt64

    private static let width = 200.0

    var markup: Markup {
        let scale = whole == 0 ? 0 : Self.width / Double(whole)
        var (position, rectangles): (Double, [Markup]) = (0, [])
        for (size, style) in parts where size > 0 {
            let width = min(max(1, Double(size) * scale), Self.width - position)
            rectangles.append(Self.rectangle(x: position, width: width, style: style))
            position += width
        }
        return Markup(
            "svg",
            [
                "class": "bar", "viewBox": "0 0 200 12", "preserveAspectRatio": "none", "aria-hidden": "true",
                "focusable": "false",
            ]
        ) {
            Self.rectangle(x: 0, width: Self.width, style: "track")
            for rectangle in rectangles { rectangle }
        }
    }

    private static func rectangle(x: Double, width: Double, style: String) -> Markup {
        Markup(
            "rect",
            ["class": style, "x": x.tenths, "y": "0", "width": width.tenths, "height": "12", "rx": "2"])
    }
}

extension Double {
    /// With one decimal at most, as drawings need it.
    var tenths: String { "\((self * 10).rounded() / 10)" }
}

extension String {
    /// With the first letter in upper case.
    var withUppercasedFirst: String { prefix(1).uppercased() + dropFirst() }
}
