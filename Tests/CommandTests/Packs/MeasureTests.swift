import Testing

@testable import VaultCommand

/// The progress bar of resumed work.
struct MeasureTests {
    /// Bytes of earlier runs don't count towards the rate.
    @Test func rateCountsThisRunOnly() {
        let resumed = ByteProgress(total: 100_000_000, present: 90_000_000, done: 92_000_000)
        #expect(resumed.rate(after: 4) == 500_000)
        #expect(resumed.remaining(after: 4) == 16)
        #expect(resumed.shown(after: 4) == "[###########################...] 92 %  500 kB/s  0:16 left")
    }

    @Test func noRateBeforeTheFirstProgress() {
        let begun = ByteProgress(total: 100, present: 60, done: 60)
        #expect(begun.rate(after: 0) == 0 && begun.rate(after: 2) == 0)
        #expect(begun.remaining(after: 2) == nil)
        #expect(begun.shown(after: 2).hasSuffix("60 %  0 kB/s"))
        // Before any time has passed, and when a piece of an earlier run turned out wrong.
        #expect(ByteProgress(total: 100, done: 50).shown(after: 0).hasSuffix("50 %  0 kB/s"))
        #expect(ByteProgress(total: 100, present: 60, done: 50).shown(after: 2).hasSuffix("50 %  0 kB/s"))
        #expect(ByteProgress(total: 0, done: 3_000_000).shown(after: 1) == "3 MB  3000 kB/s")
        #expect(ByteProgress(total: 50, done: 50).remaining(after: 1) == nil)
    }

    @Test(arguments: [(65.0, "1:05 left"), (7_390, "2:03:10 left"), (0.5, "0:01 left"), (9e9, "kB/s")])
    func remainingTimeIsFormatted(seconds: Double, shown: String) {
        // A thousand bytes each second.
        let measure = ByteProgress(total: 1_000 + UInt64(seconds * 1_000), done: 1_000)
        #expect(measure.shown(after: 1).hasSuffix(shown), "\(measure.shown(after: 1))")
    }
}
