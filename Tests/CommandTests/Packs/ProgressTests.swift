import SystemPackage
import Testing

/// Work that lasts longer than a second shows a progress bar, on a terminal only.
struct ProgressTests {
    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    private static let works: [(words: Words, call: String, label: String)] = [
        ("seal $LEVEL -o $WORK/slow.avpack $KEYS", "write", "sealing ["),
        ("open $PACK -o $WORK/opened $KEYS", "pwrite64", "opening ["),
    ]

    /// What a command shows on a terminal.
    private func shown(by words: Words, through wrapper: [String] = []) async throws -> String {
        let line = wrapper + [try Command.path.string] + words.list(sample.variables)
        return try await Tool.run(
            "script", "-qec", line.map { "'\($0)'" }.joined(separator: " "), "/dev/null"
        ).text
    }

    @Test func aTerminalShowsABar() async throws {
        try await sample.seal()
        for work in Self.works {
            let slow = Sandbox.injecting("delay_enter=1200000", into: work.call, number: 2)
            let shown = try await shown(by: work.words, through: slow)
            #expect(shown.contains("\r\u{1B}[K\(work.label)"), "\(shown)")
            #expect(shown.contains(" %  "))
            // It goes away at the end.
            let last = try #require(shown.split(separator: "[#", omittingEmptySubsequences: false).last)
            #expect(last.contains("\r\u{1B}[K"), "\(shown)")
        }
    }

    @Test func noBarWithoutATerminal() async throws {
        try await sample.seal()
        for work in Self.works {
            let slow = Sandbox.injecting("delay_enter=1200000", into: work.call, number: 2)
            let result = try await sample.run(work.words, through: slow).succeeded()
            #expect(!result.errorText.contains("[") && !result.errorText.contains("\r"))
            #expect(result.output == [])
        }
    }

    @Test func quickWorkShowsNothing() async throws {
        try await sample.seal()
        #expect(try await !shown(by: "inspect $PACK $KEYS").contains("\u{1B}[K"))
    }
}
