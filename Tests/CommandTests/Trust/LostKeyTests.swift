import Foundation
import StrictJSON
import Testing

/// A lost key is replaced with the root's key, and no client is locked out.
struct LostKeyTests {
    @Test(arguments: ["timestamp", "snapshot", "targets"], [0, 28, 40])
    func aLostKeyIsReplaced(role: String, days: Int) async throws {
        let testSite = try await TestSite()
        let folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await testSite.fetch().succeeded()
        let lost = try #require(try await testSite.roles()[role]?.keys.first)
        try testSite.takeAway("\(role).pem")
        let fresh = try await testSite.makeKey("fresh")
        try await Tool.run("mv", fresh.key, folder["vault/keys/\(role).pem"])
        // Pending changes are published, too.
        try folder.write("level/file", "version 2")

        let then = try Clock.shifted(byDays: days)
        let vault = testSite.vault
        try await Command.run("trust", "add-key", vault, role, fresh.publicKey, through: then).succeeded()
        try await testSite.publish(through: then)
        try await testSite.fetch(through: then).succeeded()
        try await Command.run("trust", "remove-key", vault, role, lost, through: then).succeeded()
        try await testSite.publish(through: then)
        try await testSite.fetch(through: then).succeeded()
        try await testSite.fetch(into: folder["new"], through: then).succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        #expect(try await testSite.roles()[role]?.keys.contains(lost) == false)
    }
}
