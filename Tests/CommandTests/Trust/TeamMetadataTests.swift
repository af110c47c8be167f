import Foundation
import StrictJSON
import Testing

/// What a team's metadata decide of tags, and what not: broken ones, and those that were not read again.
@Suite(.timeLimit(.minutes(5))) struct TeamMetadataTests {
    let studio: Studio
    private var testSite: TestSite { studio.testSite }
    private var folder: TemporaryFolder { studio.folder }

    init() async throws { studio = try await Studio() }

    /// What a team fails to publish closes no tag that it may not have.
    @Test(arguments: [nil, 16] as [Int64?]) func brokenMetadataOfATeam(bins: Int64?) async throws {
        for (tags, exitCode) in [([], 0), (["both"], 76)] as [([JSONValue], Int32)] {
            _ = try await studio.publish(granting: tags, bins: bins)
            let name = try #require(
                try folder.names(in: "vault/site/metadata").filter { $0.hasSuffix(".dlc1.json") }
                    .max { $0.localizedStandardCompare($1) == .orderedAscending })
            let path = "vault/site/metadata/\(name)"
            let sound = try folder.bytes(path)
            try folder.write(path, "{}")
            let store = folder["store-\(exitCode)"]
            let result = try await studio.access("both", in: store)
            #expect(result.exitCode == exitCode, "\(result.errorText)")
            if exitCode == 0 {
                #expect(try await studio.access("both", in: store, isOnline: false).text == "the studio's")
            }
            try folder.write(path, sound)
        }
    }

    /// A refresh for a tag of the studio reads no team's metadata: what is loaded of the team's tags stays open.
    @Test(arguments: [nil, 16] as [Int64?]) func aRefreshForAnotherTag(bins: Int64?) async throws {
        _ = try await studio.publish(granting: ["theirs"], bins: bins)
        #expect(try await studio.fetched("--tag", "theirs", into: folder["store"]) == ["dlc1/one"])
        try folder.write("one/file", "newer")
        _ = try await studio.publish(granting: ["theirs"], bins: bins)
        #expect(try await studio.fetched("--tag", "both", into: folder["store"]) == ["dlc1/one", "level"])
        for (isOnline, text) in [(false, "the team's"), (true, "newer"), (false, "newer")] {
            let result = try await studio.access("theirs", in: folder["store"], isOnline: isOnline)
            #expect(result.text == text, "\(result.errorText)")
        }
        // Without an earlier one nothing is known of them.
        _ = try await studio.fetched("--tag", "both", into: folder["other"])
        #expect(try await studio.access("theirs", in: folder["other"], isOnline: false).exitCode == 66)
    }
}
