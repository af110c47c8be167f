import SealedPack
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultSite

/// The XML of JUnit, as CI servers read it: a test case for each role of the metadata, each pack, the host, and the site. Errors fail a
/// test case; warnings and notes are its output.
struct JUnitReport {
    let run: AuditRun

    private struct Case {
        let name: String
        let findings: [Finding]

        var hasFailed: Bool { findings.contains { $0.error != nil } }
    }

    var bytes: [UInt8] {
        let suites = suites
        let cases = suites.flatMap(\.cases)
        let document = Markup(
            "testsuites",
            [
                "name": "assetvault audit", "time": run.seconds, "tests": "\(cases.count)",
                "failures": "\(cases.count(where: \.hasFailed))", "errors": "0",
            ]
        ) {
            for suite in suites { markup(of: suite.name, suite.cases) }
        }
        return Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(document.text)\n".utf8)
    }

    private var suites: [(name: String, cases: [Case])] {
        let report = run.report
        let roles = report.roles.map { Case(name: $0.role.description, findings: run.findings(about: $0)) }
        let packs = report.packs.map { pack in
            Case(name: (pack.name ?? pack.id)?.description ?? pack.place, findings: pack.findings)
        }
        let host = report.host.map { [Case(name: "host", findings: $0.findings)] } ?? []
        return [
            ("metadata", roles), ("packs", packs), ("host", host),
            ("site", [Case(name: "site", findings: run.siteFindings)]),
        ].filter { !$0.cases.isEmpty }
    }

    private func markup(of suite: String, _ cases: [Case]) -> Markup {
        Markup(
            "testsuite",
            [
                "name": suite, "tests": "\(cases.count)", "failures": "\(cases.count(where: \.hasFailed))",
                "errors": "0", "timestamp": String(run.start.description.dropLast()),
            ]
        ) {
            for test in cases {
                Markup("testcase", ["name": test.name, "classname": "\(run.report.subject).\(suite)"]) {
                    for finding in test.findings { markup(of: finding) }
                }
            }
        }
    }

    private func markup(of finding: Finding) -> Markup {
        let text = "\(finding.place): \(finding.worded)"
        return finding.error == nil
            ? Markup("system-out") { "\(finding.severity.name): \(text)" }
            : Markup("failure", ["type": finding.code.name, "message": finding.problem]) { text }
    }
}
