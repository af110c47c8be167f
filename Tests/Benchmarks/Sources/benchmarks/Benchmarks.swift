import FoundationEssentials
import Glibc

@main
enum Benchmarks {
    static func main() {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            let report = try report(options)
            print(report.markdown)
            if let json = options.json { try report.writeJSON(to: json) }
        } catch {
            Progress.note("benchmarks: \(error)")
            exit(1)
        }
    }

    private static func report(_ options: Options) throws -> Report {
        let machine = Machine()
        guard let file = FolderSize.file(in: options.corpus, nearest: 50_000) else {
            throw Failure("no file in \(options.corpus)")
        }
        Progress.note("preparing: keys, a pack, and the same as tar.zst.age")
        let workshop = try Workshop(options, file: file)
        defer { workshop.close() }
        let outcomes = try Contest.all.filter { options.only.isEmpty || $0.name.contains(options.only) }
            .map { try $0.measured(rounds: options.rounds, in: workshop) }
        return Report(
            version: workshop.commandVersion, machine: machine,
            corpus: Report.Corpus(
                name: options.corpusName, size: FolderSize.of(options.corpus), file: file),
            rounds: options.rounds, memoryFloor: Machine.memoryFloor, outcomes: outcomes,
            comparisons: outcomes.flatMap(\.comparisons))
    }
}

/// What goes on, for whoever waits.
enum Progress {
    static func note(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
