import Testing
import VaultBase

/// A table of opaque names where a process is killed, or the publisher signs none; `Scripts/Channels/opaque-table.txt` has tables
/// that do not arrive, or can't be opened.
@Suite(.timeLimit(.minutes(10))) struct OpaqueTableTests {
    let world: World

    /// A site with one pack.
    init() async throws {
        world = try await World()
        for name in ["one", "new"] { try world.write("\(name)/file", name) }
        try declare(["one"])
        try await world.publish()
    }

    /// Each has a tag of its name.
    private func declare(_ packs: [String]) throws {
        let members = packs.map {
            ("hush/\($0)", ["policy": "essential", "tags": [.string($0)]] as JSONObject)
        }
        try world.declare(Dictionary(uniqueKeysWithValues: members)) { $0["opaqueNames"] = true }
    }

    /// A kill between the table and the names that the store keeps of it.
    @Test func killedBeforeTheNamesAreKept() async throws {
        try await world.fetch().succeeded()
        try declare(["one", "new"])
        try await world.publish()
        try await world.fetch(withKeys: false).succeeded()
        #expect(try await world.run("unlock $STORE $KEYS", dyingAt: "activationRecorded").exitCode == 137)
        #expect(try await world.status()["hush/new"] == nil)
        try await world.run("unlock $STORE $KEYS").succeeded()
        #expect(try await world.status()["hush/new"]?.version == 1)
        try await world.run("access new $STORE -- true").succeeded()
    }

    /// The signed list has no table, though it says that names are opaque.
    @Test func anAuditOfASiteWithoutATable() async throws {
        try await world.forgeTargets {
            try $0.change("targets") { $0["packs/assetvault.names.avpack"] = nil }
        }
        for keys in [[], world.keys] {
            let audit = try await world.run("audit $SITE \(keys)")
            #expect(audit.exitCode == 66, "\(audit.errorText)")
            #expect(audit.errorText.contains("lists no table of them"), "\(audit.errorText)")
        }
    }
}
