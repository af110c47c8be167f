import Foundation
import StrictJSON
import Testing

/// A lost key is replaced with the root's key, and no client is locked out.
struct LostKeyTests {
    @Test(arguments: ["timestamp", "snapshot", "targets"], [0, 28, 40])
    func aLostKeyIsReplaced(role: String, days: Int) async throws {
        let workshop = try await Workshop()
        let folder = workshop.folder
        try folder.write("level/file", "version 1")
        try await workshop.publish("--pack", "level=\(folder["level"])")
        try await workshop.fetch().succeeded()
        let lost = try #require(try await workshop.roles()[role]?.keys.first)
        try workshop.takeAway("\(role).pem")
        let fresh = try await workshop.makeKey("fresh")
        try await Tool.run("mv", fresh.key, folder["vault/keys/\(role).pem"])
        // Pending changes are published, too.
        try folder.write("level/file", "version 2")

        let then = ["faketime", "+\(days) days"]
        let vault = workshop.vault
        try await Command.run("trust", "add-key", vault, role, fresh.publicKey, through: then).succeeded()
        try await workshop.publish(through: then)
        try await workshop.fetch(through: then).succeeded()
        try await Command.run("trust", "remove-key", vault, role, lost, through: then).succeeded()
        try await workshop.publish(through: then)
        try await workshop.fetch(through: then).succeeded()
        try await workshop.fetch(into: folder["new"], through: then).succeeded()
        #expect(try await workshop.tree(of: "level") == Tree(folder["level"]))
        #expect(try await workshop.roles()[role]?.keys.contains(lost) == false)
    }
}
