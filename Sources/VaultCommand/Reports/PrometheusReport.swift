import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultSite

/// The text format of Prometheus, for the textfile collector of its node exporter.
struct PrometheusReport {
    let run: AuditRun

    private typealias Labels = KeyValuePairs<StaticString, String>
    private typealias Samples = [(labels: Labels, value: String)]

    var bytes: [UInt8] {
        let report = run.report
        let findings = report.allFindings
        let packs = run.packs
        let metrics: [(name: String, help: String, samples: Samples)] = [
            (
                "success", "1 if the last audit found no error, otherwise 0",
                number(findings.allSatisfy { $0.error == nil } ? 1 : 0)
            ),
            ("exit_code", "The exit code of the last audit", number(run.exitCode)),
            (
                "last_run_timestamp_seconds", "When the last audit began",
                number(run.start.secondsSince1970)
            ),
            ("duration_seconds", "How long the last audit took", [([:], run.seconds)]),
            (
                "problems", "Findings by severity",
                ["error", "warning", "note"].map { name in
                    (["severity": name], "\(findings.count { $0.severity.name == name })")
                }
            ),
            ("findings", "Findings by severity and code", countsByCode),
            (
                "packs", "Listed packs, by whether an error was found when they were last looked at",
                [
                    (["state": "sound"], "\(packs.sound)"), (["state": "bad"], "\(packs.bad)"),
                    (["state": "unverified"], "\(packs.unverified)"),
                ]
            ),
            ("bytes", "Bytes of all listed packs", number(packs.bytes)),
            (
                "verified_bytes", "Bytes of all files that matched their description in the last audit",
                number(report.verifiedBytes)
            ),
            (
                "expiry_timestamp_seconds", "When the metadata of a role expires",
                report.roles.map { (["role": $0.role.name], "\($0.expires.secondsSince1970)") }
            ),
            (
                "metadata_version", "The version of the metadata of a role",
                report.roles.map { (["role": $0.role.name], "\($0.version)") }
            ),
        ]
        return Array(metrics.map { text(of: $0.name, $0.help, $0.samples) }.joined().utf8)
    }

    private var countsByCode: Samples {
        let byCode = Dictionary(grouping: run.report.allFindings) { [$0.severity.name, $0.code.name] }
        return byCode.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { names, findings in
            (["severity": names[0], "code": names[1]], "\(findings.count)")
        }
    }

    private func number(_ value: some BinaryInteger) -> Samples { [([:], "\(value)")] }

    private func text(of name: String, _ help: String, _ samples: Samples) -> String {
        let metric = "assetvault_audit_\(name)"
        let lines = samples.map { labels, value in
            let all = [("site", run.report.subject)] + labels.map { ("\($0.key)", $0.value) }
            let text = all.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
            return "\(metric){\(text)} \(value)\n"
        }
        return "# HELP \(metric) \(help).\n# TYPE \(metric) gauge\n\(lines.joined())"
    }

    /// By scalars: a combining character makes a quote another `Character`.
    private static func escaped(_ label: String) -> String {
        var escaped = ""
        for scalar in label.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
