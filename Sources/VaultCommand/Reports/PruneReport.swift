import SystemPackage
import VaultAuthoring
import VaultBytes
import VaultErrors

/// What a site loses, and what stays although it is not published now.
struct PruneReport: Report {
    let plan: SitePruning.Plan
    let isDryRun: Bool

    var columns: [Column<Self>] {
        [
            .table("removed", [.text("path", "%") { $0.path }, .number("length") { $0.length }]) {
                $0.plan.removals
            },
            .table(
                "kept",
                [.text("path") { $0.path }, .number("length") { $0.length }, .text("reason") { $0.reason }]
            ) { $0.plan.kept },
            .flag("dryRun") { $0.isDryRun },
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
