import SealedPack
import SystemPackage
import Testing
import UpdateFramework
import VaultBase
import VaultSite

@testable import VaultAuthoring
@testable import VaultCommand

/// The formats of an audit's report: of a damaged site, and of names that try to be markup.
@Suite struct ReportFormatTests {
    /// Ends an attribute, an element, a line and a comment of each format.
    private static let hostile =
        "x\"'></title><script>alert(1)</script>]]>--><img src=x>\n\r\n\u{301}\"\u{301}<\u{301}\\\u{FFFE}\u{1B}[2J"

    private static func run(_ report: AuditReport) -> AuditRun {
        AuditRun(report: report, start: TestVault.now, duration: .milliseconds(1234))
    }

    private static var hostileRun: AuditRun {
        var report = AuditReport(
            of: hostile, failing: VaultError(.corrupt, hostile, at: hostile, remedy: hostile))
        report.host = HostReport(
            findings: [.warning("weak-etag", hostile, at: hostile, remedy: hostile)])
        var pack = AuditedPack(place: hostile, of: nil)
        (pack.length, pack.pieceCount, pack.damagedPieces) = (100, 9, [0, 3, 4])
        pack.findings = [.damaged(hostile, at: hostile, remedy: hostile)]
        report.append(pack)
        return run(report)
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func namesAreNoMarkup() throws {
        for text in [
            Self.text(AuditPage(run: Self.hostileRun).page.bytes).replacing("\(PageStyle.sheet)", with: ""),
            Self.text(JUnitReport(run: Self.hostileRun).bytes),
        ] {
            #expect(!text.contains("<script") && !text.contains("<img") && !text.contains("\u{1B}"))
            // No scalar that ends a text or an attribute comes from a name.
            #expect(text.unicodeScalars.count { $0 == "<" } == text.unicodeScalars.count { $0 == ">" })
            #expect(text.contains("&lt;script&gt;"))
        }
    }

    @Test func aPageLoadsNothing() {
        let text = Self.text(AuditPage(run: Self.hostileRun).page.bytes)
        #expect(text.contains("default-src &#39;none&#39;; style-src &#39;sha256-"))
        for attribute in [" src=\"", " href=\"h", " style=\"", "url(", "@import", " onload"] {
            #expect(!text.contains(attribute), "\(attribute)")
        }
    }

    @Test func labelsOfMetricsAreOneLine() {
        let lines = Self.text(PrometheusReport(run: Self.hostileRun).bytes).unicodeScalars.split(
            separator: "\n")
        #expect(lines.allSatisfy { $0.starts(with: "assetvault_audit_".unicodeScalars) || $0.first == "#" })
    }

    @Test func metricsOfADamagedSite() async throws {
        let vault = try await TestVault.published()
        try vault.flipByte(of: try vault.file(of: try await vault.packs()[0]), at: 64)
        let report = try await vault.audit()
        let lines = Self.text(PrometheusReport(run: Self.run(report)).bytes).split(separator: "\n")
        let site = "site=\"\(vault.site.string)\""
        for line in [
            "assetvault_audit_success{\(site)} 0", "assetvault_audit_exit_code{\(site)} 65",
            "assetvault_audit_duration_seconds{\(site)} 1.234",
            "assetvault_audit_last_run_timestamp_seconds{\(site)} \(TestVault.now.secondsSince1970)",
            "assetvault_audit_problems{\(site),severity=\"error\"} 1",
            "assetvault_audit_findings{\(site),severity=\"error\",code=\"damaged\"} 1",
            "assetvault_audit_packs{\(site),state=\"bad\"} 1",
            "assetvault_audit_verified_bytes{\(site)} \(report.verifiedBytes)",
        ] {
            #expect(lines.contains { $0 == line }, "\(line)")
        }
    }

    @Test func casesOfADamagedSite() async throws {
        let vault = try await TestVault.published()
        try vault.flipByte(of: try vault.file(of: try await vault.packs()[0]), at: 64)
        let text = Self.text(JUnitReport(run: Self.run(try await vault.audit())).bytes)
        #expect(
            text.contains(
                "<testsuites name=\"assetvault audit\" time=\"1.234\" tests=\"7\" failures=\"1\" errors=\"0\">"
            ))
        #expect(text.contains("<failure type=\"damaged\" message=\"damaged pieces (1): number 0\">"))
    }

    @Test func resultsOfADamagedSite() async throws {
        let vault = try await TestVault.published()
        let file = try vault.file(of: try await vault.packs()[0])
        try vault.flipByte(of: file, at: 64)
        let json = SARIFReport(run: Self.run(try await vault.audit())).json
        let run = try json.array("runs", at: "SARIF")[0].asObject(at: "run")
        let result = try run.array("results", at: "run")[0].asObject(at: "result")
        #expect(result["ruleId"] == "damaged" && result["level"] == "error" && result["ruleIndex"] == 0)
        #expect(
            result["message"] == [
                "text":
                    "damaged pieces (1): number 0; repair it from a host of the site, or remove it before the publisher's copy is uploaded again (assetvault repair \(vault.site) --from URL)"
            ])
        let place = try result.array("locations", at: "result")[0].asObject(at: "location")
        #expect(place["physicalLocation"] == ["artifactLocation": ["uri": .string("file://\(file.string)")]])
    }

    /// Ten thousand pieces share cells; each damaged one marks its own.
    @Test func manyPiecesShareCells() {
        let map = PieceMap(name: "large", pieceCount: 10_000, damaged: [0, 9_998, 9_999]).markup.text
        #expect(map.contains("3 of 10000 pieces damaged: number 0, 9998–9999. Each cell is 5 pieces."))
        #expect(map.components(separatedBy: "h13v13").count - 1 == 2000)
        #expect(map.components(separatedBy: "l7 7").count - 1 == 2)
    }

    @Test func growthAndCoverage() async throws {
        let vault = try await TestVault.published()
        #expect(!Self.text(AuditPage(run: Self.run(try await vault.audit())).page.bytes).contains("growth"))
        let first = try await vault.audit(keyed: true, remembering: vault.ledger())
        let one = Self.text(AuditPage(run: Self.run(first)).page.bytes)
        #expect(one.contains("The size has not changed") && !one.contains("class=\"column\""))

        // An audit that finds the same is no step of the growth.
        _ = try await vault.audit(remembering: vault.ledger())

        vault.now = vault.now.adding(days: 20)
        try vault.write(TestVault.noise(40_000, seed: 5), to: "three/c.bin")
        try await vault.publish(["three": "three"])
        let second = try await vault.audit(remembering: vault.ledger(AuditBudget(bytes: 1)))
        let history = try #require(second.history)
        let versions = history.growth.compactMap(\.version)
        #expect(history.growth.map(\.listed.packs) == [2, 3] && versions == versions.sorted())
        #expect(versions.last == (try await vault.tree().chain.snapshot.version))
        // The new pack now, and the others 20 days ago, by the limits 1, 7, 14, 30 and 90.
        #expect(history.ages.map(\.share.packs) == [1, 0, 0, 2, 0, 0])
        #expect(history.ages.map(\.withKeys.packs) == [0, 0, 0, 2, 0, 0])
        let page = Self.text(AuditPage(run: Self.run(second)).page.bytes)
        #expect(page.contains("in version \(versions[0]) to ") && page.contains("in 1 change."))
        #expect(page.contains("15 to 30 days ago"))
        // A column for each version, and one for each audit before what was listed.
        #expect(page.components(separatedBy: "class=\"column\"").count - 1 == 5)
        #expect(page.components(separatedBy: "class=\"whole\" x").count - 1 == 3)
    }

    /// A damaged state file can't end the program.
    @Test(arguments: [0, 1, 999, 1000, UInt64.max]) func scalesOfColumns(_ size: UInt64) {
        let entries = [size, 0].map {
            ColumnChart.Entry(label: "a", size: $0, whole: size, explanation: "b")
        }
        let chart = ColumnChart(id: "a", title: "b", entries: entries).markup.text
        let steps = chart.components(separatedBy: "<line").count - 1
        #expect((2...7).contains(steps), "\(steps)")
        #expect(!chart.contains("nan") && !chart.contains("\"-"))
    }

    @Test func rowsThatATableDoesNotShowAreCounted() {
        func text(_ count: Int) -> String {
            let columns = [PageTable<Int>.Column.number("Row") { "no. \($0)" }]
            return PageTable(id: "rows", caption: "Rows", columns: columns, rows: Array(1...count)).markup
                .text
        }
        #expect(text(200).contains("no. 200") && !text(200).contains("Not shown"))
        #expect(!text(202).contains("no. 201") && text(202).contains("Not shown: 2 rows."))
    }

    @Test func worstFirst() async throws {
        let vault = try await TestVault.published()
        try vault.flipByte(of: try vault.file(of: try await vault.packs()[0]), at: 64)
        let page = Self.text(AuditPage(run: Self.run(try await vault.audit(pinned: false))).page.bytes)
        #expect(page.contains("<h1>1 problem</h1>") && page.contains("number 0"))
    }
}

extension String {
    fileprivate func components(separatedBy part: String) -> [Substring] {
        split(separator: part, omittingEmptySubsequences: false)
    }
}
