import VaultBase

/// XML, which is HTML, too. Texts and values of attributes are escaped where it is made, so that no name from a site can add an element.
struct Markup: Sendable, ExpressibleByStringInterpolation {
    private(set) var text: String

    /// A text.
    init(stringLiteral text: String) { self.init(text) }

    /// A text. Control characters and line breaks are shown as `\u{…}`.
    init(_ text: String) { self.text = Self.escaped(text) }

    /// An element. An attribute whose value is nil is left out.
    init(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?> = [:],
        @MarkupBuilder content: () -> Markup = { Markup(joining: []) }
    ) {
        text = "<\(name)"
        for case (let attribute, let value?) in attributes {
            text += " \(attribute)=\"\(Self.escaped(value))\""
        }
        let isVoid = "\(name)" == "meta"
        text += isVoid ? ">" : ">\(content().text)</\(name)>"
    }

    init(joining parts: [Markup]) { text = parts.map(\.text).joined() }

    /// Text of this program that stays as it is, such as a style sheet.
    init(own text: StaticString) { self.text = "\(text)" }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.escapingControls.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            // XML can't have U+FFFE and U+FFFF.
            case _ where scalar.properties.isNoncharacterCodePoint: escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

@resultBuilder
enum MarkupBuilder {
    static func buildExpression(_ text: String) -> Markup { Markup(text) }
    static func buildExpression(_ markup: Markup) -> Markup { markup }
    static func buildBlock(_ parts: Markup...) -> Markup { Markup(joining: parts) }
    static func buildArray(_ parts: [Markup]) -> Markup { Markup(joining: parts) }
    static func buildOptional(_ part: Markup?) -> Markup { part ?? Markup(joining: []) }
    static func buildEither(first: Markup) -> Markup { first }
    static func buildEither(second: Markup) -> Markup { second }
}
