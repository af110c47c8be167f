import FoundationEssentials

/// Everything that one run of the benchmarks found.
struct Report: Codable, Sendable {
    struct Corpus: Codable, Sendable {
        let name: String
        let size: FolderSize
        /// The file that `cat` prints.
        let file: String
    }

    let version: String
    let machine: Machine
    let corpus: Corpus
    let rounds: Int
    let memoryFloor: Int
    let outcomes: [Outcome]
    let comparisons: [Comparison]

    func writeJSON(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: URL(filePath: path))
    }
}
