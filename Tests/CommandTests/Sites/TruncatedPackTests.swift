import FaultServer
import Foundation
import Testing

/// A file that is shorter than its pack: `status` reports it as missing, and a fetch replaces it.
struct TruncatedPackTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/noise", Bytes.random(300_000, seed: 1))
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await testSite.fetch().succeeded()
        try folder.write("level/noise", Bytes.random(300_000, seed: 2))
        try await testSite.publish()
    }

    enum Place: CaseIterable { case shared, ephemeral, recorded }

    @Test(arguments: Place.allCases, [0, 100_000]) func isMissing(place: Place, count: Int) async throws {
        let pack = try testSite.publishedPack("level")
        let digest = String(try #require(pack.split(separator: "/").last?.split(separator: ".").first))
        let bytes = Array(try folder.bytes("vault/site/\(pack)").prefix(count))
        switch place {
        case .shared:
            let waiting = folder["waiting"]
            try await testSite.fetch(into: waiting, withKeys: false).succeeded()
            try await Tool.run("cp", "-a", "\(waiting)/shared/packs", folder["store/shared/packs"])
            try folder.write("store/shared/packs/level/@\(digest).avpack", bytes)
        case .ephemeral: try folder.write("store/ephemeral/\(digest).avpack", bytes)
        case .recorded:
            try await testSite.fetch(withKeys: false).succeeded()
            try folder.write("store/shared/packs/level/@\(digest).avpack", bytes)
        }
        let status = try await testSite.status()["level"]
        #expect(status?.state == "loaded" && status?.version == 1 && status?.waitingVersion == nil)
        let costs = try await testSite.fetch(nil, "--dry-run").succeeded()
        #expect(costs.text.contains("level"), "\(costs.text) \(costs.errorText)")
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status()["level"]?.version == 2)
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }
}
