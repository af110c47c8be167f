import VaultBase

/// Findings as cards, in the given order. Findings with one code and one remedy are one card with several places.
struct FindingList {
    let findings: [Finding]

    private static let limit = 200
    private static let shownPlaces = 3
    /// Behind these.
    private static let placeLimit = 1000

    @MarkupBuilder
    var markup: Markup {
        let groups = groups
        Markup("ol", ["class": "findings"]) {
            for (number, group) in groups.prefix(Self.limit).enumerated() { card(group, number) }
        }
        if groups.count > Self.limit {
            Markup("p") {
                "Not shown: \((groups.count - Self.limit).counting("more kind")). --json lists all findings."
            }
        }
    }

    private var groups: [[Finding]] {
        var positions: [[String]: Int] = [:]
        var groups: [[Finding]] = []
        for finding in findings {
            let kind = [finding.severity.name, finding.code.name, finding.wordedRemedy]
            if let position = positions[kind] {
                groups[position].append(finding)
            } else {
                positions[kind] = groups.count
                groups.append([finding])
            }
        }
        return groups
    }

    @MarkupBuilder
    private func card(_ group: [Finding], _ number: Int) -> Markup {
        if let first = group.first {
            let level = Page.Level(first.severity)
            Markup("li", ["class": level.rawValue, "id": "finding-\(number + 1)"]) {
                Markup("h3") {
                    level.badge(first.severity.name)
                    Markup("span") {
                        group.count == 1
                            ? first.problem.withUppercasedFirst : "\(first.code.words), \(group.count) times"
                    }
                    Markup("code", ["class": "quiet"]) { first.code.name }
                }
                if group.count == 1 {
                    Markup("p", ["class": "place"]) { first.place }
                } else {
                    Self.places(of: group.prefix(Self.shownPlaces))
                    let rest = group.dropFirst(Self.shownPlaces)
                    if !rest.isEmpty {
                        Markup("details") {
                            Markup("summary") { "\(rest.count) more" }
                            Self.places(of: rest.prefix(Self.placeLimit))
                            if rest.count > Self.placeLimit {
                                Markup("p") {
                                    "Not shown: \((rest.count - Self.placeLimit).counting("more place")). --json lists all."
                                }
                            }
                        }
                    }
                }
                Markup("p") {
                    Markup("span", ["class": "do"]) { "What to do: " }
                    first.wordedRemedy
                }
            }
        }
    }

    private static func places(of findings: ArraySlice<Finding>) -> Markup {
        Markup("ul") {
            for finding in findings {
                Markup("li") {
                    Markup("span", ["class": "place"]) { finding.place }
                    ": \(finding.problem)"
                }
            }
        }
    }
}

extension Finding.Code {
    /// The name as words: `Cached timestamp`.
    fileprivate var words: String { name.replacing("-", with: " ").withUppercasedFirst }
}
