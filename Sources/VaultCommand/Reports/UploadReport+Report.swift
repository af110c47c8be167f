import VaultAuthoring
import VaultErrors

extension UploadReport: Report {
    var columns: [Column<Self>] {
        [
            .words { $0.work }, .number("timestamp", "; timestamp version %") { $0.version },
            .number("earlierTimestamp") { $0.earlierVersion }.orNull, .words(", %") { $0.before },
            .text("destination") { $0.destination }, .flag("dryRun") { $0.isDryRun },
            .number("files") { $0.files.count }, .number("bytes") { $0.length },
            .table("sent", [.text("path") { $0.path }, .number("length") { $0.length }]) { $0.files },
            .texts("warnings") { $0.warnings.map(\.worded) },
        ]
    }

    private var work: String {
        if files.isEmpty { return "nothing to send" }
        return
            "\(isDryRun ? "would send" : "sent") \(files.count.counting("file")), \(length.counting("byte"))"
    }

    private var before: String {
        earlierVersion.map { $0 == version ? "as before" : "after \($0)" } ?? "the first one"
    }
}
