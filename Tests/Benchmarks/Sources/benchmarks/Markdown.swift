/// The report as people read it.
extension Report {
    var markdown: String {
        """
        \(machine.processor), \(machine.cores) cores, \(machine.memory.mebibytes) MiB, Linux \(machine.kernel); \
        load before the first round \(machine.load). assetvault \(version).
        Corpus \(corpus.name): \(corpus.size.files) files, \(corpus.size.bytes.megabytes) MB. \
        Medians of \(rounds) rounds, (least to most).

        | work | how | wall s | CPU s | peak MiB | out MB |
        | --- | --- | --- | --- | --- | --- |
        \(outcomes.flatMap(\.rows).joined(separator: "\n"))

        Peak memory is that of the largest process; below \(memoryFloor.mebibytes) MiB it can't be told.

        | work | against | wall, ratio | CPU, ratio | goal for wall |
        | --- | --- | --- | --- | --- |
        \(comparisons.map(\.row).joined(separator: "\n"))
        """
    }
}

extension Outcome {
    fileprivate var rows: [String] {
        entries.map { entry in
            let peak = entry.runs.map(\.peakMemory).max() ?? 0
            let output = entry.runs.last?.output ?? 0
            let wall = Spread(entry.runs.map(\.wall)).markdown
            let cpu = Spread(entry.runs.map(\.cpu)).markdown
            return "| \(name) | \(entry.name) | \(wall) | \(cpu) | \(peak.mebibytes) | \(output.megabytes) |"
        }
    }
}

extension Comparison {
    fileprivate var row: String {
        let goal = goal.map { "at most \($0)" } ?? ""
        return "| \(work) | \(against) | \(wall.markdown) | \(cpu.markdown) | \(goal) |"
    }
}

extension Spread {
    fileprivate var markdown: String { "\(median.short) (\(least.short) to \(most.short))" }
}

extension Double {
    /// Two digits after the point, three where there is little before it.
    fileprivate var short: String {
        let digits = abs(self) < 0.1 ? 3 : 2
        let scale = digits == 3 ? 1000 : 100
        let scaled = Int((abs(self) * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        return "\(scaled / scale).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
    }
}

extension Int {
    fileprivate var mebibytes: Int { (self + (1 << 19)) >> 20 }
    fileprivate var megabytes: String { (Double(self) / 1e6).short }
}
