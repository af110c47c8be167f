/// The comparison as people read it.
extension Report {
    var markdown: String {
        [introduction, verdicts.markdown, comparisonTable, costTable, updateTable].sections
    }

    private var introduction: String {
        """
        \(setting.markdown)
        \(corpora.map { "\($0.name): \($0.size.files.grouped) files, \($0.size.bytes.megabytes) MB." }
            .joined(separator: " "))
        Medians of \(rounds) rounds, (least to most). Peak memory is that of the largest process; below \
        \(memoryFloor.mebibytes) MiB it can't be measured.
        """
    }

    private var comparisonTable: String {
        var table = MarkdownTable("work", "corpus", "against", "wall, ratio", "CPU, ratio")
        for comparison in comparisons {
            table.add([
                comparison.work, comparison.corpus, comparison.against, comparison.wall.markdown,
                comparison.cpu.markdown,
            ])
        }
        return table.markdown
    }

    private var costTable: String {
        var table = MarkdownTable(
            "work", "corpus", "how", "wall s", "CPU s", "peak MiB", "read MB", "written MB", "received MB",
            "out MB")
        for outcome in outcomes {
            for entry in outcome.entries {
                table.add([
                    outcome.work, outcome.corpus, entry.name, Spread(entry.runs.map(\.wall)).markdown,
                    Spread(entry.runs.map(\.cpu)).markdown, String(entry.peakMemory.mebibytes),
                    entry.runs.last?.read.megabytes ?? "", entry.runs.last?.written.megabytes ?? "",
                    entry.runs.last?.received.megabytes ?? "", entry.runs.last?.output.megabytes ?? "",
                ])
            }
        }
        return table.markdown
    }

    /// In KB, but for the pack.
    private var updateTable: String {
        var table = MarkdownTable(
            "update, without a key", "new pack MB", "total KB", "pieces", "index, catalog", "metadata, heads",
            "peak MiB", "casync KB", "zchunk KB", "restic KB")
        for update in updates {
            let run = update.typical
            let parts = [run.traffic.total, run.pieces, run.listing, run.metadata]
            let others = Rival.all.map { rival in
                update.others.first { $0.name == rival.name }.map { Int($0.median).kilobytes } ?? ""
            }
            table.add(
                [update.update, run.packLength.megabytes] + parts.map(\.kilobytes)
                    + [String(run.cost.peakMemory.mebibytes)] + others)
        }
        return table.markdown
    }
}
