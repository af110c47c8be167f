import Foundation
import StrictJSON
import Testing

/// Files that others left in a vault are never signed by its owner, and decide nothing.
struct ForeignMetadataTests {
    let studio: Studio
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        studio = try await Studio()
        (testSite, folder) = (studio.testSite, studio.folder)
    }

    /// A removed team's metadata are removed, also those that were hidden.
    @Test func metadataOfARemovedTeam() async throws {
        try folder.write("foreign/file", "the team's idea of the studio's pack")
        try await studio.publishTeam("--pack", "premium=\(folder["foreign"])")
        try await testSite.publish()
        try testSite.settings { $0["teams"] = nil }
        try await testSite.trust("rotate", "targets").succeeded()
        try await testSite.publish()
        let newest = try #require(
            try testSite.metadata().filter { $0.hasSuffix(".targets.json") }.max { $0 < $1 })
        let listed = try folder.json("vault/site/metadata/\(newest)")["signed", "targets"]?.members
        #expect(listed?.keys == ["packs/level.avpack"])
        try await testSite.fetch(into: folder["player"]).succeeded()
    }

    /// Only files that the vault itself wrote to `pending/` get the signatures of its keys.
    @Test func anUnrequestedPendingRoot() async throws {
        let stranger = try await testSite.makeKey("stranger")
        let safe = try testSite.takeAway("root.pem")
        try await testSite.trust("add-key", "targets", stranger.publicKey).succeeded()
        let evil = try folder.bytes("vault/pending/2.root.json")
        try FileManager.default.removeItem(atPath: folder["vault/pending/2.root.json"])
        try FileManager.default.removeItem(atPath: folder["vault/.pending"])
        try await Tool.run("mv", safe, folder["vault/keys/root.pem"])
        try folder.write("vault/pending/2.root.json", evil)
        let before = try Tree("\(testSite.site)/metadata")
        try folder.write("level/file", "the studio's second")
        try await Command.run("publish", testSite.vault).failed(65, naming: "2.root.json", "remove it")
        #expect(try Tree("\(testSite.site)/metadata") == before)
        try FileManager.default.removeItem(atPath: folder["vault/pending/2.root.json"])
        try await testSite.publish()
    }

    /// Signers see whose keys they are, whatever the file calls them.
    @Test func keysUnderFalseNames() async throws {
        let stranger = try await testSite.makeKey("stranger")
        let safe = try testSite.takeAway("root.pem")
        try await testSite.trust("add-key", "targets", stranger.publicKey).succeeded()
        let file = folder["vault/pending/2.root.json"]
        let honest = try await Command.run("trust", "sign", file, "--key", safe).succeeded().errorText
        let named = try await testSite.roles().values.map(\.keys)
        let own = try #require(named.first?.first)
        var text = String(decoding: try folder.bytes("vault/pending/2.root.json"), as: UTF8.self)
        let keys = try folder.json("vault/pending/2.root.json")["signed", "keys"]?.members?.keys ?? []
        let foreign = try #require(keys.first { key in !named.contains { $0.contains(key) } })
        #expect(honest.contains(foreign.prefix(16)))
        text = text.replacing(foreign, with: "\(own.prefix(60))ffff")
        try folder.write("copy/2.root.json", Array(text.utf8))
        let shown = try await Command.run("trust", "sign", folder["copy/2.root.json"], "--key", safe)
            .succeeded().errorText
        #expect(shown.contains(foreign.prefix(16)), "\(shown)")
    }
}
