import Foundation
import StrictJSON
import Testing

/// A host without keys that serves one signed file in place of another.
struct HostileHostTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try testSite.settings { $0["bins"] = 2 }
        try await testSite.publish()
    }

    /// All bins are signed by one key, and have one version: the snapshot tells them apart.
    @Test func aSwappedBin() async throws {
        let (first, second) = (
            try folder.bytes("vault/site/metadata/1.packs-0.json"),
            try folder.bytes("vault/site/metadata/1.packs-1.json")
        )
        try folder.write("vault/site/metadata/1.packs-0.json", second)
        try folder.write("vault/site/metadata/1.packs-1.json", first)
        for argument in ["--all", "level"] {
            try await testSite.fetch(nil, argument, into: folder["player"]).failed(76, naming: "packs-")
        }
        let audit = try await Command.run("audit", testSite.site)
        #expect(audit.exitCode != 0)
    }

    /// An older list of the whole site is refused in place of a bin of that version.
    @Test func anOldListInPlaceOfABin() async throws {
        try await testSite.fetch().succeeded()
        let first = try Tree(folder["level"])
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        let bin = try #require(try testSite.metadata().first { $0.hasPrefix("2.packs-") })
        let honest = try folder.bytes("vault/site/metadata/\(bin)")
        try folder.write(
            "vault/site/metadata/\(bin)", folder.bytes("vault/site/metadata/2.targets.json"))
        try await testSite.fetch().failed(76, naming: "packs-")
        #expect(try await testSite.tree(of: "level") == first)
        try folder.write("vault/site/metadata/\(bin)", honest)
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }
}
