import FoundationEssentials

/// The results of one comparison run.
struct Report: Codable, Sendable {
    struct Corpus: Codable, Sendable {
        let name: String
        let size: FolderSize
        /// The file that `cat` prints.
        let file: String
    }

    let setting: Setting
    /// The least peak memory that can be measured, in bytes.
    let memoryFloor: Int
    let corpora: [Corpus]
    let rounds: Int
    let outcomes: [Outcome]
    let comparisons: [Comparison]
    let updates: [UpdateOutcome]
    let verdicts: [Verdict]
}

extension Encodable {
    /// Writes the whole report, every single run, if anybody wants it.
    func writeJSON(to path: String?) throws {
        guard let path else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: URL(filePath: path))
    }
}

/// The origin of the figures.
struct Setting: Codable, Sendable {
    let assetvault: String
    let machine: Machine

    init(_ options: Options) throws {
        let file = options.work + "/version"
        _ = try MeasuredProcess.run(
            "$assetvault --version >\(file)", environment: Workshop.variables(of: options),
            errors: options.work + "/errors")
        assetvault = try String(contentsOfFile: file, encoding: .utf8).filter { $0 != "\n" }
        machine = Machine()
    }
}
