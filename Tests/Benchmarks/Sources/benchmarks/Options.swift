import FoundationEssentials

/// The arguments: `--name value`, in any order, after what to do.
struct Options: Sendable {
    /// The assetvault to measure.
    let command: String
    /// Holds corpora/NAME, histories/NAME/VERSION and containers/NAME/VERSION.
    let cache: String
    /// A folder that is made, emptied and removed.
    let work: String
    /// A folder for many small files.
    let small: String
    let rounds: Int
    /// Only the work whose name contains this.
    let only: String
    let json: String?
    /// Where the plot of how cost grows goes.
    let plot: String?
    /// How far cost is followed.
    let limits: GrowthLimits

    init(_ arguments: [String]) throws {
        var values: [String: String] = [:]
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard Self.names.contains(name), let value = rest.popFirst() else {
                throw Failure(
                    "what is '\(name)'? Known, each with a value: \(Self.names.joined(separator: " "))")
            }
            values[name] = value
        }
        func path(_ name: String) throws -> String {
            guard let value = values[name] else { throw Failure("\(name) is missing") }
            guard !value.contains(where: \.isWhitespace) else {
                throw Failure("the scripts want no spaces in paths: \(value)")
            }
            return URL(filePath: value).path
        }
        func number(_ name: String, default standard: Int) throws -> Int {
            guard let text = values[name] else { return standard }
            guard let number = Int(text), number > 0 else {
                throw Failure("\(name) wants a number from 1 up")
            }
            return number
        }
        command = try path("--command")
        cache = try path("--cache")
        work = try path("--work")
        small = values["--small"] == nil ? work : try path("--small")
        only = values["--only"] ?? ""
        json = values["--json"]
        plot = values["--plot"]
        rounds = try number("--rounds", default: 5)
        limits = GrowthLimits(
            files: try number("--files", default: 1_000_000),
            megabytes: try number("--megabytes", default: 16_000),
            packs: try number("--packs", default: 10_000))
    }

    private static let names = [
        "--command", "--cache", "--work", "--small", "--rounds", "--only", "--json", "--plot", "--files",
        "--megabytes",
        "--packs",
    ]
}
