import ArgumentParser
import StrictJSON
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultErrors

struct Prune: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove files that no client needs any more from a site.",
        discussion: """
            What stays: every root; what unexpired metadata names; the last versions of each pack, with the metadata \
            that lists them, so that they can be restored; and what was live less than the grace time ago. Each file \
            that goes is named; --dry-run only names them. Remove the same files from your host, after the site was \
            uploaded.

            EXAMPLE
              assetvault prune my-game --keep 3 --grace 30d --dry-run
            """)

    @Argument(help: ArgumentHelp("The vault.", valueName: "vault"), completion: .directory)
    var vault: String

    @Option(help: ArgumentHelp("Number of versions of each pack to keep.", valueName: "n"))
    var keep = 3

    @Option(help: ArgumentHelp("How long what was live stays afterwards, in days.", valueName: "days"))
    var grace = "30d"

    @Flag(help: "Name the files, and remove nothing.")
    var dryRun = false

    @Flag(help: "Print a report as JSON.")
    var json = false

    func run() async throws {
        guard keep >= 1 else {
            throw VaultError(.usage, "\(keep) versions are too few", at: "--keep", remedy: "keep at least 1")
        }
        let pruning = SitePruning(
            of: VaultFolder(FilePath(vault)), keeping: keep, grace: try days(), now: .now)
        let plan = dryRun ? try await pruning.plan() : try await pruning.run()
        if json {
            let answer: JSONObject = [
                "removed": .array(plan.removals.map { .object(Self.object($0.path, $0.length)) }),
                "kept": .array(
                    plan.kept.map { file in
                        var object = Self.object(file.path, file.length)
                        object["reason"] = .string(file.reason.description)
                        return .object(object)
                    }), "dryRun": .bool(dryRun),
            ]
            return Console.answer(bytes: JSONValue.object(answer).pretty())
        }
        for removal in plan.removals { Console.answer(removal.path.string) }
        explain(plan.kept)
        let bytes = plan.removals.reduce(0) { $0 + $1.length }
        let files = Self.count(plan.removals.count)
        Console.note("\(dryRun ? "would remove" : "removed") \(files), \(bytes) bytes")
    }

    /// Unlisted versions that are kept: how many for each reason.
    private func explain(_ kept: [SitePruning.Kept]) {
        if kept.isEmpty { return Console.note("every other file is part of what is published now") }
        var reasons: [KeepingReason] = []
        for file in kept where !reasons.contains(file.reason) { reasons.append(file.reason) }
        for reason in reasons {
            let files = kept.filter { $0.reason == reason }
            let bytes = files.reduce(0) { $0 + $1.length }
            Console.note("\(reason): \(Self.count(files.count)), \(bytes) bytes")
        }
    }

    private static func count(_ files: Int) -> String { files == 1 ? "1 file" : "\(files) files" }

    private static func object(_ path: FilePath, _ length: UInt64) -> JSONObject {
        ["path": .string(path.string), "length": .integer(Int64(clamping: length))]
    }

    private func days() throws(VaultError) -> Int {
        let digits = grace.hasSuffix("d") ? String(grace.dropLast()) : grace
        if let days = Int(digits), (0...36_500).contains(days) { return days }
        throw VaultError(
            .usage, "'\(grace)' is no number of days", at: "--grace", remedy: "write it as 30d")
    }
}
