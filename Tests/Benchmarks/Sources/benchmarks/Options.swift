import FoundationEssentials

/// The arguments: `--name value`, in any order.
struct Options: Sendable {
    /// The assetvault to measure.
    let command: String
    let corpus: String
    let corpusName: String
    /// A folder that is made, emptied and removed.
    let work: String
    let rounds: Int
    /// Only the work whose name contains this.
    let only: String
    let json: String?

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
        func needed(_ name: String) throws -> String {
            guard let value = values[name] else { throw Failure("\(name) is missing") }
            return value
        }
        command = URL(filePath: try needed("--command")).path
        corpus = try needed("--corpus")
        corpusName = try needed("--corpus-name")
        work = try needed("--work")
        only = values["--only"] ?? ""
        json = values["--json"]
        guard let rounds = Int(values["--rounds"] ?? "5"), rounds > 0 else {
            throw Failure("--rounds wants a number from 1 up")
        }
        self.rounds = rounds
    }

    private static let names = [
        "--command", "--corpus", "--corpus-name", "--work", "--rounds", "--only", "--json",
    ]
}
