import UpdateFramework
import VaultAuthoring
import VaultBase

/// SARIF 2.1.0 (OASIS), as code scanning reads it: a rule for each code, a result for each finding, worst first.
struct SARIFReport {
    let run: AuditRun

    var json: JSONObject {
        let findings = run.report.worstFirst
        var rules: [Finding] = []
        var indexes: [Finding.Code: Int] = [:]
        for finding in findings where indexes[finding.code] == nil {
            indexes[finding.code] = rules.count
            rules.append(finding)
        }
        let driver: JSONObject = [
            "name": "assetvault", "version": .string(AssetVaultCommand.release),
            "rules": .array(rules.map(rule)),
        ]
        let invocation: JSONObject = [
            "executionSuccessful": true, "exitCode": .number(run.exitCode),
            "startTimeUtc": .string(run.start.description), "endTimeUtc": .string(run.end.description),
        ]
        let results = findings.map { result($0, rule: indexes[$0.code] ?? 0) }
        return [
            "$schema":
                "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            "version": "2.1.0",
            "runs": [
                [
                    "tool": ["driver": .object(driver)], "invocations": [.object(invocation)],
                    "automationDetails": ["id": .string("assetvault/\(run.report.subject)")],
                    "results": .array(results),
                ]
            ],
        ]
    }

    private func rule(of finding: Finding) -> JSONValue {
        [
            "id": .string(finding.code.name),
            "help": ["text": .string(finding.wordedRemedy)],
            "defaultConfiguration": ["level": .string(finding.severity.name)],
        ]
    }

    private func result(_ finding: Finding, rule: Int) -> JSONValue {
        [
            "ruleId": .string(finding.code.name), "ruleIndex": .number(rule),
            "level": .string(finding.severity.name), "message": ["text": .string(finding.worded)],
            "locations": [
                [
                    "physicalLocation": ["artifactLocation": ["uri": .string(Self.uri(of: finding.place))]],
                    "logicalLocations": [["fullyQualifiedName": .string(finding.place)]],
                ]
            ],
        ]
    }

    /// A place may have any characters: those that a URI can't have are percent-encoded.
    private static func uri(of place: String) -> String {
        let isURL = ["https://", "http://", "file://"].contains(where: place.hasPrefix)
        let segments = place.split(separator: "/", omittingEmptySubsequences: false)
        let encoded = segments.enumerated().map { number, segment in
            // A URL has a scheme and perhaps a port, and segments that are encoded already.
            guard isURL, PercentEncoding.decode(segment.utf8) != nil else {
                return PercentEncoding.encode(String(segment))
            }
            let kept: Character = number < 3 ? ":" : "%"
            return segment.split(separator: kept, omittingEmptySubsequences: false)
                .map { PercentEncoding.encode(String($0)) }.joined(separator: String(kept))
        }.joined(separator: "/")
        return (encoded.hasPrefix("/") ? "file://" : "") + (encoded.isEmpty ? "." : encoded)
    }
}
