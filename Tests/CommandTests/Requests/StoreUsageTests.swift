import Foundation
import StrictJSON
import Testing

/// What a store takes on the disk, and what may go (ODR-10, ODR-14, ODR-21).
@Suite(.timeLimit(.minutes(5))) struct StoreUsageTests {
    let site: RequestSite
    private var testSite: TestSite { site.testSite }

    init() async throws {
        site = try await RequestSite()
        try await testSite.fetch().succeeded()
        try await site.access("level2", "level3", script: "true").succeeded()
    }

    @Test func usageOfAStore() async throws {
        let usage = try await site.usage()
        #expect(usage.keys.sorted() == ["level1", "level2", "level2.level3", "level3"])
        #expect(usage["level1"]?["purgeReason"] == nil && usage["level2"]?["purgeReason"] == "onDemand")
        #expect(usage["level2"]?["openedSize"] == 5 && usage["level2"]?["tags"] == ["level2"])
        #expect(usage["level3"]?["preservation"] == "0.8")
        let text = try await Command.run(["usage"] + site.store).succeeded().text
        #expect(text.contains("game/level2  ") && text.contains("may go: on demand"), "\(text)")
        #expect(text.contains("initial install: 5 bytes opened"), "\(text)")
        try await Command.run(["usage", "--limits", "odr-2015"] + site.store).succeeded()
        try await Command.run(["usage", "--limits", "odr-2016"] + site.store).failed(64, naming: "odr-2015")
        try await Command.run(["usage", "--store", testSite.folder["nowhere"]]).failed(66)
    }

    /// By preservation priority, then by last use.
    @Test func theOrderOfPurging() async throws {
        let would = try await site.purge("--dry-run")
        #expect(would.last == "level3" || would.last == "level2.level3", "\(would)")
        #expect(Set(would) == ["level2", "level2.level3", "level3"] && would.first == "level2")
        #expect(try await site.usage().count == 4)
        // Enough is free.
        #expect(try await site.purge("--until-free", "1") == [])
        #expect(try await site.purge("--until-free", "1PB".replacing("PB", with: "000TB")).count == 3)
        #expect(try await site.usage().keys.sorted() == ["level1"])
        let text = try await Command.run(["purge"] + site.store).succeeded()
        #expect(text.errorText.contains("nothing may go"))
        // It comes back when it is asked for, and not before.
        try await testSite.fetch().succeeded()
        #expect(try await site.usage().keys.sorted() == ["level1"])
        let back = try await site.access("level2", script: "cat \"$ASSETVAULT_RESOURCES/levels/2/map\"")
        #expect(back.text == "map 2")
    }
}
