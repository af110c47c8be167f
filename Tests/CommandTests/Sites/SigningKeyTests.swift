import Foundation
import Testing

/// The signing keys of a site: missing, readable by others, of another vault, or offline.
struct SigningKeyTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try folder.write("level/file", "version 2")
    }

    @Test(arguments: ["timestamp", "snapshot", "targets"]) func aMissingSigningKey(role: String) async throws
    {
        try FileManager.default.removeItem(atPath: folder["vault/keys/\(role).pem"])
        let before = try Tree("\(testSite.site)/metadata")
        try await Command.run("publish", testSite.vault).failed(77, naming: "\(role).pem")
        #expect(try Tree("\(testSite.site)/metadata") == before)
    }

    @Test(arguments: ["vault.jwks", "timestamp.pem", "targets.pem"])
    func aKeyReadableByOthers(name: String) async throws {
        try folder.setPermissions("vault/keys/\(name)", 0o644)
        let before = try Tree("\(testSite.site)/metadata")
        try await Command.run("publish", testSite.vault).failed(77, naming: name, "chmod")
        #expect(try Tree("\(testSite.site)/metadata") == before)
    }

    /// The key that signs is not the one that the root names.
    @Test func anotherVaultsSigningKey() async throws {
        let other = try await TestSite()
        let key = try other.folder.bytes("vault/keys/targets.pem")
        try folder.write("vault/keys/targets.pem", key, permissions: 0o600)
        let before = try Tree("\(testSite.site)/metadata")
        try await Command.run("publish", testSite.vault).failed(
            77, naming: "targets.pem", "root version 1")
        #expect(try Tree("\(testSite.site)/metadata") == before)
    }

    /// In the last quarter of its period the root is renewed where its key is, and waits elsewhere until it expires.
    @Test func theRootsKeyMayBeOffline() async throws {
        let key = folder["vault/keys/root.pem"]
        try FileManager.default.moveItem(atPath: key, toPath: folder["root.pem"])
        let early = try await testSite.publish(through: Clock.shifted(byDays: 200))
        #expect(!early.errorText.contains("warning"))
        let late = try await testSite.publish("--json", through: Clock.shifted(byDays: 300))
        #expect(late.errorText.contains("the root expires") && late.errorText.contains("pending/2.root.json"))
        #expect(try late.json()["warnings"]?.elements?.count == 1)
        try await testSite.fetch(through: Clock.shifted(byDays: 301)).succeeded()
        try await Command.run("publish", testSite.vault, through: Clock.shifted(byDays: 366)).failed(
            77, naming: "root.pem")
        try FileManager.default.moveItem(atPath: folder["root.pem"], toPath: key)
        let renewal = try await testSite.publish(through: Clock.shifted(byDays: 302))
        #expect(renewal.errorText.contains("2.root.json") && !renewal.errorText.contains("warning"))
        try await testSite.fetch(through: Clock.shifted(byDays: 366)).failed(76, naming: "timestamp")
        try await testSite.publish(through: Clock.shifted(byDays: 366))
        try await testSite.fetch(through: Clock.shifted(byDays: 366)).succeeded()
    }
}
