import Sampling
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
    private func shown(
        by words: Words, in folder: some Workplace, through wrapper: [String] = []
    ) async throws -> String {
        let line = wrapper + [try Command.path.string] + words.list(folder.variables)
        return try await Tool.run(
            "script", "-qec", line.map { "'\($0)'" }.joined(separator: " "), "/dev/null"
        ).text
    }

    @Test func aTerminalShowsABar() async throws {
        try await sample.seal()
        for work in Self.works {
            let slow = Sandbox.injecting("delay_enter=1200000", into: work.call, number: 2)
            let shown = try await shown(by: work.words, in: sample, through: slow)
            #expect(shown.contains("\r\u{1B}[K\(work.label)"), "\(shown)")
            #expect(shown.contains(" %  "))
            // It goes away at the end.
            let last = try #require(shown.split(separator: "[#", omittingEmptySubsequences: false).last)
            #expect(last.contains("\r\u{1B}[K"), "\(shown)")
        }
    }

    /// The bar of a run over several packs is that of the whole: of two packs of one size the second one begins at the half.
    @Test func aTerminalShowsTheWhole() async throws {
        let world = try await World("one", "two") { world in
            for id in ["one", "two"] {
                try world.write("\(id)/noise", Bytes.random(6 << 20, seed: UInt64(id.count)))
            }
        }
        try await world.fetch().succeeded()
        let bar = #/\x1B\[K(\w+) (\w+)(?: packs)? \[[#.]{30}\] (\d+) %  /#
        for (words, activity, item, delay) in [
            ("publish $VAULT --dry-run", "sealing", "two", 60_000),
            ("plan $VAULT --updates", "sealing", "two", 60_000),
            ("audit $SITE $TRUST", "checking", "two", 400_000),
            ("verify $STORE $KEYS", "verifying", "2", 40_000),
        ] as [(Words, String, String, Int)] {
            let slow = Sandbox.injecting("delay_enter=\(delay)", into: "pread64", from: 1)
            let shown = try await shown(by: words, in: world, through: slow)
            let bars = shown.matches(of: bar)
            #expect(bars.allSatisfy { $0.1 == activity }, "\(shown)")
            #expect(bars.contains { $0.2 == item && 50...99 ~= Int($0.3) ?? 0 }, "\(shown)")
            // It goes away at the end.
            #expect(try #require(shown.split(separator: bar).last).contains("\r\u{1B}[K"), "\(shown)")
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
        let shown = try await withEnoughTime { _ -> String? in
            let start = ContinuousClock.now
            let shown = try await self.shown(by: "inspect $PACK $KEYS", in: sample)
            return ContinuousClock.now - start < .seconds(1) ? shown : nil
        }
        #expect(!shown.contains("\u{1B}[K"))
    }
}
