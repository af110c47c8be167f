import StrictJSON
import SystemPackage
import VaultAuthoring
import VaultBytes
import VaultErrors

/// What a site loses, and what stays although it is not published now.
struct PruneReport: Report {
    let plan: SitePruning.Plan
    let isDryRun: Bool

    var lines: [String] { plan.removals.map(\.path.string) }

    var json: JSONObject {
        [
            "removed": .objects(plan.removals) { ["path": "\($0.path)", "length": .number($0.length)] },
            "kept": .objects(plan.kept) {
                ["path": "\($0.path)", "length": .number($0.length), "reason": "\($0.reason)"]
            },
            "dryRun": .bool(isDryRun),
        ]
    }

    /// How many files stay for each reason, and how many go.
    func explain() {
        if plan.kept.isEmpty { Console.note("every other file is part of what is published now") }
        var reasons: [KeepingReason] = []
        for file in plan.kept where !reasons.contains(file.reason) { reasons.append(file.reason) }
        for reason in reasons {
            Console.note("\(reason): \(Self.sum(plan.kept.filter { $0.reason == reason }.map(\.length)))")
        }
        Console.note("\(isDryRun ? "would remove" : "removed") \(Self.sum(plan.removals.map(\.length)))")
    }

    private static func sum(_ lengths: [UInt64]) -> String {
        "\(lengths.count.counting("file")), \(lengths.saturatingSum { $0 }) bytes"
    }
}
