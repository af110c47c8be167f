import StrictJSON
import VaultAuthoring
import VaultErrors

extension UploadReport: Report {
    var lines: [String] {
        let before = earlierVersion.map { $0 == version ? "as before" : "after \($0)" } ?? "the first one"
        let sum = "\(files.count.counting("file")), \(length.counting("byte"))"
        let verb = isDryRun ? "would send" : "sent"
        return [
            "\(files.isEmpty ? "nothing to send" : "\(verb) \(sum)"); timestamp version \(version), \(before)"
        ]
    }

    var json: JSONObject {
        [
            "destination": .string(destination), "dryRun": .bool(isDryRun), "files": .number(files.count),
            "bytes": .number(length), "timestamp": .number(version),
            "earlierTimestamp": earlierVersion.map { .number($0) } ?? .null,
            "sent": .objects(files) { ["path": .string($0.path), "length": .number($0.length)] },
            "warnings": .texts(warnings.map(\.worded)),
        ]
    }
}
