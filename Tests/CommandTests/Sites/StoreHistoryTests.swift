import Testing

/// Tests of the history checker: it accepts possible histories, and finds impossible ones.
struct StoreHistoryTests {
    private let history = StoreHistory()
    private let start = ContinuousClock.now

    /// An operation from one moment to another, while versions 1 to 3 were published one after the other.
    private func note(
        _ operation: StoreHistory.Operation, _ moments: ClosedRange<Int>, saw version: Int? = nil,
        exitCode: Int32 = 0, published: ClosedRange<Int> = 1...3
    ) {
        let versions = version.map { ["level": $0] } ?? [:]
        history.note(
            StoreHistory.Event(
                operation: operation, start: start + .seconds(moments.lowerBound),
                end: start + .seconds(moments.upperBound), exitCode: exitCode, published: published,
                versions: versions))
    }

    @Test func acceptsAPossibleHistory() {
        note(.fetch(id: "level", withKeys: true), 0...4, published: 1...2)
        note(.status, 1...2, saw: 0)
        note(.read("level"), 5...6, saw: 2)
        // Concurrent readers may see either version.
        note(.status, 7...9, saw: 3)
        note(.read("level"), 8...10, saw: 2)
        note(.remove("level"), 11...12)
        note(.path("level"), 13...14, exitCode: 66)
        note(.status, 15...16, saw: 0)
        note(.fetch(id: "level", withKeys: false), 17...20, exitCode: 75)
        note(.status, 18...19, saw: 3)
        #expect(history.contradictions == [])
    }

    @Test func findsAVersionThatGoesBack() {
        note(.read("level"), 1...2, saw: 2)
        note(.read("level"), 3...4, saw: 1)
        #expect(history.contradictions.count == 1)
    }

    @Test func findsAVersionBeforeItsPublication() {
        note(.status, 1...2, saw: 3, published: 1...2)
        #expect(history.contradictions.count == 1)
    }

    @Test func findsAFetchWithoutEffect() {
        note(.fetch(id: "level", withKeys: true), 1...2, published: 2...2)
        note(.status, 3...4, saw: 1)
        #expect(history.contradictions.count == 1)
    }

    @Test func findsARemovedPackThatReturns() {
        note(.remove("level"), 1...2)
        note(.downloader, 3...4)
        note(.status, 5...6, saw: 1)
        #expect(history.contradictions.count == 1)
    }

    @Test func findsARemovalOfAMissingPack() {
        note(.remove("level"), 1...2, exitCode: 66)
        note(.fetch(id: "level", withKeys: true), 1...4)
        #expect(history.contradictions == [])
        note(.remove("level"), 5...6, exitCode: 66)
        #expect(history.contradictions.count == 1)
    }

    @Test func findsAnUndocumentedExitCode() {
        note(.unlock, 1...2, exitCode: 65)
        note(.status, 1...2, saw: 0, exitCode: 75)
        #expect(history.contradictions.count == 2)
    }
}
