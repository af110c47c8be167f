import SystemPackage
import Testing

/// Work that lasts longer than a second shows a progress bar, on a terminal only.
struct ProgressTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    private var works: [(arguments: [String], call: String, label: String)] {
        [
            (["seal", samplePack.level, "-o", samplePack.folder["slow.avpack"]], "write", "sealing ["),
            (["open", samplePack.pack, "-o", samplePack.folder["opened"]], "pwrite64", "opening ["),
        ]
    }

    @Test func aTerminalShowsABar() async throws {
        try await samplePack.seal()
        for work in works {
            let slow = Sandbox.injecting("delay_enter=1200000", into: work.call, number: 2)
            let words = slow + [try Command.path.string] + work.arguments + samplePack.keys
            let line = words.map { "'\($0)'" }.joined(separator: " ")
            let shown = try await Tool.run("script", "-qec", line, "/dev/null").text
            #expect(shown.contains("\r\u{1B}[K\(work.label)"), "\(shown)")
            #expect(shown.contains(" %  "))
            // It goes away at the end.
            let last = try #require(shown.split(separator: "[#", omittingEmptySubsequences: false).last)
            #expect(last.contains("\r\u{1B}[K"), "\(shown)")
        }
    }

    @Test func noBarWithoutATerminal() async throws {
        try await samplePack.seal()
        for work in works {
            let slow = Sandbox.injecting("delay_enter=1200000", into: work.call, number: 2)
            let result = try await Command.run(work.arguments + samplePack.keys, through: slow).succeeded()
            #expect(!result.errorText.contains("[") && !result.errorText.contains("\r"))
            #expect(result.output == [])
        }
    }

    @Test func quickWorkShowsNothing() async throws {
        try await samplePack.seal()
        let words = [try Command.path.string, "inspect", samplePack.pack] + samplePack.keys
        let line = words.map { "'\($0)'" }.joined(separator: " ")
        #expect(try await !Tool.run("script", "-qec", line, "/dev/null").text.contains("\u{1B}[K"))
    }
}
