import ArgumentParser
import SystemPackage
import VaultBase
import VaultFileSystem

/// Where a command writes a report beside its answer, or in place of it.
struct ReportFile: ExpressibleByArgument {
    /// Nil for standard output.
    let path: FilePath?

    init(argument: String) { path = argument == "-" ? nil : FilePath(argument) }

    var isOutput: Bool { path == nil }

    /// Replaces the file atomically. Other users may read it, such as those of a web server or a node exporter.
    func write(_ bytes: [UInt8]) throws(VaultError) {
        guard let path else { return Console.answer(bytes: bytes) }
        try DurableFile.write(bytes.span, to: path, permissions: 0o644, replacing: true)
    }
}

/// The formats of an audit's report for other programs, and the page for people.
struct ReportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Write the report as JUnit XML, too. '-' as the file of this or the next options prints it in \
            place of the text.
            """,
            valueName: "file"),
        completion: .file())
    var junit: ReportFile?

    @Option(help: ArgumentHelp("The same as SARIF 2.1.0.", valueName: "file"), completion: .file())
    var sarif: ReportFile?

    @Option(
        help: ArgumentHelp(
            """
            The same as metrics for the textfile collector of Prometheus' node exporter.
            """, valueName: "file"),
        completion: .file())
    var prometheus: ReportFile?

    @Option(
        help: ArgumentHelp("The same as a page that needs no other file and no network.", valueName: "file"),
        completion: .file())
    var html: ReportFile?

    /// Whether a report takes the place of the text.
    var usesOutput: Bool { files.contains(where: \.isOutput) }

    var paths: [FilePath] { files.compactMap(\.path) }

    private var files: [ReportFile] { [junit, sarif, prometheus, html].compactMap(\.self) }

    func validate() throws {
        if files.count(where: \.isOutput) > 1 {
            throw ValidationError("only one report can be printed with '-'")
        }
    }

    /// Writes all files, also when one can't be written, and then throws its error.
    func write(_ run: AuditRun) throws(VaultError) {
        var failure: VaultError?
        func write(_ file: ReportFile?, _ bytes: @autoclosure () -> [UInt8]) {
            do throws(VaultError) { try file?.write(bytes()) } catch { failure = failure ?? error }
        }
        write(junit, JUnitReport(run: run).bytes)
        write(sarif, JSONValue.object(SARIFReport(run: run).json).pretty())
        write(prometheus, PrometheusReport(run: run).bytes)
        write(html, AuditPage(run: run).page.bytes)
        if let failure { throw failure }
    }
}
