import Foundation
import StrictJSON
import Testing

/// A role's key is replaced, and every reader follows.
struct RotationTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
    }

    static let cases: [(role: String, count: Int64?)] =
        ["root", "timestamp", "snapshot", "targets"].map { ($0, nil) } + [("targets", 4), ("timestamp", 4)]

    /// The role's metadata are signed by both keys until the next publication, then by the new one alone.
    @Test(arguments: cases) func everyReaderFollows(role: String, count: Int64?) async throws {
        if let count { try testSite.settings { $0["bins"] = .integer(count) } }
        try await testSite.publish("--pack", "level=\(folder["level"])")
        let readers = try await Readers(of: testSite)
        let tree = try Tree(folder["level"])
        let first = try folder.bytes("vault/trusted-root.json")
        let old = try #require(try await testSite.roles()[role]?.keys)
        try await testSite.trust("rotate", role).succeeded()
        let new = try #require(try await testSite.roles()[role]?.keys)
        #expect(new.count == 1 && new.isDisjoint(with: old))
        #expect(try await testSite.roles()["root"]?.version == 2)
        #expect(try folder.bytes("vault/trusted-root.json") == first, "clients go on pinning the first root")
        #expect(try await testSite.signers(of: role) == old.union(new))
        // The targets name the bins' keys, in the same step.
        let bins = try await testSite.roles().keys.filter { role == "targets" && $0.hasPrefix("packs") }
        for name in bins { #expect(try await testSite.signers(of: name) == new, "\(name)") }
        try await readers.expectBelief(seeing: [tree])

        try await testSite.publish()
        // A root stays signed by the keys of the root before: that is how clients follow.
        if role != "root" { #expect(try await testSite.signers(of: role) == new) }
        try await readers.expectBelief(seeing: [tree])
        let before = try Tree(testSite.site)
        try await testSite.publish()
        #expect(try Tree(testSite.site) == before)
        #expect(try testSite.pending() == [])
    }

    /// A client that missed several rotations follows them all.
    @Test func severalRotationsInARow() async throws {
        try await testSite.publish("--pack", "level=\(folder["level"])")
        let readers = try await Readers(of: testSite)
        for role in ["root", "timestamp", "root", "snapshot", "targets", "root"] {
            try await testSite.trust("rotate", role).succeeded()
        }
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
    }

    /// The old key's file is kept under the beginning of its ID; the fresh one has its name and mode.
    @Test func theOldKeyFileIsKept() async throws {
        try await testSite.publish("--pack", "level=\(folder["level"])")
        let old = try folder.bytes("vault/keys/timestamp.pem")
        let id = try #require(try await testSite.roles()["timestamp"]?.keys.first)
        try await testSite.trust("rotate", "timestamp").succeeded()
        #expect(try folder.bytes("vault/keys/timestamp.\(id.prefix(8)).pem") == old)
        #expect(try folder.bytes("vault/keys/timestamp.pem") != old)
        #expect(try folder.permissions("vault/keys/timestamp.pem") == 0o600)
        #expect(try !folder.exists("vault/keys/timestamp.next.pem"))
    }
}
