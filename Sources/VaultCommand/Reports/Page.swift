import UpdateFramework
import VaultBase

/// A page of HTML that stands alone: it loads nothing and runs nothing, and is read from top to bottom by eye, keyboard or screen reader.
struct Page {
    /// How bad it is, which is shown by colour, sign and word.
    enum Level: String {
        case good, note, warning, error
    }

    struct Section {
        /// Its name in links.
        let id: String
        let title: String
        let content: Markup

        init(id: String, title: String, @MarkupBuilder content: () -> Markup) {
            (self.id, self.title, self.content) = (id, title, content())
        }
    }

    struct Figure {
        let name: String
        let value: String
        var detail: String?
    }

    /// What the page is about, such as `Audit of my-game/site`.
    let kind: String
    let level: Level
    let verdict: String
    /// Sentences below the verdict.
    let details: [String]
    let figures: [Figure]
    let sections: [Section]
    let footer: String

    var bytes: [UInt8] { Array("<!DOCTYPE html>\n\(document.text)\n".utf8) }

    private var document: Markup {
        Markup("html", ["lang": "en"]) {
            Markup("head") {
                Markup("meta", ["charset": "utf-8"])
                Markup("meta", ["http-equiv": "Content-Security-Policy", "content": PageStyle.policy])
                Markup("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
                Markup("meta", ["name": "color-scheme", "content": "light dark"])
                Markup("title") { "\(verdict) – \(kind)" }
                Markup("style") { Markup(own: PageStyle.sheet) }
            }
            Markup("body") {
                Markup("a", ["class": "skip", "href": "#content"]) { "Skip to the content" }
                Markup("header") {
                    Markup("p", ["class": "kind"]) { kind }
                    Markup("div", ["class": "verdict \(level.rawValue)"]) {
                        level.sign
                        Markup("div") {
                            Markup("h1") { verdict }
                            for detail in details { Markup("p", ["class": "quiet"]) { detail } }
                        }
                    }
                    figureList
                }
                Markup("nav", ["aria-label": "On this page"]) {
                    Markup("ul") {
                        for section in sections {
                            Markup("li") { Markup("a", ["href": "#\(section.id)"]) { section.title } }
                        }
                    }
                }
                Markup("main", ["id": "content"]) {
                    for section in sections {
                        Markup("section", ["id": section.id, "aria-labelledby": "\(section.id)-title"]) {
                            Markup("h2", ["id": "\(section.id)-title"]) { section.title }
                            section.content
                        }
                    }
                }
                Markup("footer") { Markup("p") { footer } }
            }
        }
    }

    private var figureList: Markup {
        Markup("dl", ["class": "figures"]) {
            for figure in figures {
                Markup("div") {
                    Markup("dt") { figure.name }
                    Markup("dd") { figure.value }
                    if let detail = figure.detail { Markup("dd") { detail } }
                }
            }
        }
    }
}

extension Page.Level {
    init(_ severity: Finding.Severity) {
        switch severity {
        case .error: self = .error
        case .warning: self = .warning
        case .note: self = .note
        }
    }

    /// The worst of findings.
    init(of findings: [Finding]) {
        let levels = findings.map { Self($0.severity) }
        self = levels.contains(.error) ? .error : levels.contains(.warning) ? .warning : .good
    }

    /// A word in its colour.
    func badge(_ word: String) -> Markup {
        Markup("span", ["class": "badge \(rawValue)"]) { word }
    }

    /// A tick, a cross or an exclamation mark in a circle. The verdict says the same in words.
    fileprivate var sign: Markup {
        let path =
            switch self {
            case .good, .note: "M14 25l7 7 14-15"
            case .warning: "M24 12v15M24 33v3"
            case .error: "M16 16l16 16M32 16l-16 16"
            }
        return Markup("svg", ["viewBox": "0 0 48 48", "aria-hidden": "true", "focusable": "false"]) {
            Markup(
                "circle",
                [
                    "cx": "24", "cy": "24", "r": "21", "fill": "none", "stroke": "currentColor",
                    "stroke-width": "3",
                ])
            Markup(
                "path",
                [
                    "d": path, "fill": "none", "stroke": "currentColor", "stroke-width": "4",
                    "stroke-linecap": "round", "stroke-linejoin": "round",
                ])
        }
    }
}

extension UTCTime {
    /// For people, in minutes: `2031-05-01 12:00 UTC`.
    var shown: String { "\(description.prefix(16).replacing("T", with: " ")) UTC" }

    /// `2031-05-01`.
    var day: String { String(description.prefix(10)) }
}
