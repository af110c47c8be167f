import FoundationEssentials
import Glibc

@main
enum Benchmarks {
    static func main() {
        do {
            let arguments = CommandLine.arguments.dropFirst()
            let options = try Options(Array(arguments.dropFirst()))
            switch arguments.first {
            case "compare": try compare(options)
            case "growth": try grow(options)
            default: throw Failure("first comes what to do: compare or growth")
            }
        } catch {
            Progress.note("benchmarks: \(error)")
            exit(1)
        }
    }

    /// The command beside other tools, in the same run.
    private static func compare(_ options: Options) throws {
        let work = try WorkFolder(options)
        defer { work.close() }
        let names = try FileManager.default.contentsOfDirectory(atPath: options.cache + "/corpora")
            .filter { !$0.hasPrefix(".") }
        var corpora: [Report.Corpus] = []
        var outcomes: [Outcome] = []
        // The largest first: the goals are set for it.
        for (name, size) in try names.map({ ($0, try FolderSize.of(options.cache + "/corpora/" + $0)) })
            .sorted(by: { $0.1.bytes > $1.1.bytes })
        {
            let workshop = try Workshop(corpus: name, of: options, server: work.server)
            corpora.append(Report.Corpus(name: name, size: size, file: workshop.file))
            outcomes += try Contest.all.filter { options.wants($0.name) }
                .map { try $0.measured(rounds: options.rounds, in: workshop) }
        }
        let updates = try Update.all(in: options.cache, rounds: options.rounds).filter {
            options.wants("update of " + $0.name)
        }
        .map { try $0.measured(of: options, server: work.server) }
        let report = Report(
            setting: work.setting, memoryFloor: Machine.memoryFloor, corpora: corpora,
            rounds: options.rounds, outcomes: outcomes, comparisons: outcomes.flatMap(\.comparisons),
            updates: updates,
            verdicts: outcomes.filter { $0.corpus == corpora.first?.name }.flatMap(\.verdicts)
                + updates.map(\.verdict))
        Progress.answer(report.markdown)
        try report.writeJSON(to: options.json)
    }

    /// The command alone, with growing amounts of work.
    private static func grow(_ options: Options) throws {
        let work = try WorkFolder(options)
        defer { work.close() }
        let growths = try GrowthAxis.all(options.limits).filter { options.wants($0.name) }
            .map { try $0.measured(options, server: work.server) }
        let report = GrowthReport(
            setting: work.setting, memoryFloor: Machine.memoryFloor, growths: growths,
            verdicts: growths.flatMap(\.verdicts))
        Progress.answer(report.markdown)
        try report.writeJSON(to: options.json)
        if let plot = options.plot {
            try GrowthPlot(growths).svg.write(toFile: plot, atomically: true, encoding: .utf8)
        }
    }
}

extension Options {
    fileprivate func wants(_ name: String) -> Bool { only.isEmpty || name.contains(only) }
}
