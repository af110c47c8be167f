import SealedPack
import Testing
import VaultBase
import VaultSite

@testable import AssetVault

/// What a host has just sent and what is stored afterwards are one view of the site: for each tag, app version and division into bins.
struct SiteViewTests {
    private static let tags: [Set<String>] = [
        ["level"], ["music"], ["both"], ["level", "music"], ["unknown"], ["level", "unknown"],
    ]

    @Test(arguments: [nil, "1.0", "2.0"] as [String?], [1, 4] as [Int64])
    func liveAndStoredViewsAgree(app: String?, bins: Int64) async throws {
        let world = try await World.withPacks([:])
        try await world.tag(["levels/one": ["level", "both"], "extras": ["music", "both"]])
        // Else the version that was for all apps would stay listed for 1.0.
        try world.settings { $0["apps"] = ["from": "2.0"] }
        try await world.declare("apps", of: ["extras": .object(["from": "2.0"])])
        if bins > 1 { try await world.publishInBins(bins) }
        var configuration = try world.configuration()
        configuration.appVersion = try app.map { try AppVersion($0) }
        let store = StoreAccess(layout: configuration.store, role: .app)
        let network = NetworkGate(configuration.effectiveTransport, in: store) { .unrestricted }
        let live = try await LiveSite(configuration, in: store, over: network).refresh()
        // Reads all roles, which are stored.
        let all = try await live.select(.all)
        #expect(
            all.offers.map(\.pack.id.description)
                == (app == "1.0" ? ["levels/one"] : ["extras", "levels/one"]))
        let site = StoredSite(store: store, choice: configuration.listingChoice)
        let stored = try #require(try await site.view())
        #expect(try await stored.allPacks().packs.map(\.pack) == live.allPacks().packs.map(\.pack))
        for tags in Self.tags {
            let asked = try await live.select(.tagged(tags))
            let known = try #require(try await stored.storedPacks(with: tags))
            #expect(known.offers.map(\.pack) == asked.offers.map(\.pack))
            #expect(known.unknownTags == asked.unknownTags)
            // A tag that only other versions of the app have is known.
            #expect(asked.unknownTags == tags.intersection(["unknown"]))
        }
    }
}
