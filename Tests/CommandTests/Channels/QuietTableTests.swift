import Foundation
import StrictJSON
import Testing

/// A table of quiet names where a process is killed, or the publisher signs none; `Scripts/Channels/quiet-table.txt` has tables
/// that do not arrive, or can't be opened.
@Suite(.timeLimit(.minutes(10))) struct QuietTableTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    /// A site with one pack.
    init() async throws {
        testSite = try await TestSite()
        for name in ["one", "new"] { try folder.write("\(name)/file", name) }
        try declare(["one"])
        try await testSite.publish()
    }

    /// Each has a tag of its name.
    private func declare(_ packs: [String]) throws {
        try testSite.settings {
            $0["quietNames"] = true
            $0["packs"] = .object(
                JSONObject(
                    lastWins: packs.map { name in
                        (
                            "hush/\(name)",
                            [
                                "source": .string(folder[name]), "policy": "essential",
                                "tags": [.string(name)],
                            ]
                        )
                    }))
        }
    }

    /// A kill between the table and the names that the store keeps of it.
    @Test func killedBeforeTheNamesAreKept() async throws {
        try await testSite.fetch().succeeded()
        try declare(["one", "new"])
        try await testSite.publish()
        try await testSite.fetch(withKeys: false).succeeded()
        let unlock = ["unlock", "--store", testSite.store] + testSite.keys
        #expect(try await Command.run(unlock, dyingAt: "activationRecorded").exitCode == 137)
        #expect(try await testSite.status()["hush/new"] == nil)
        try await Command.run(unlock).succeeded()
        #expect(try await testSite.status()["hush/new"]?.version == 1)
        try await Command.run("access", "new", "--store", testSite.store, "--", "true").succeeded()
    }

    /// The signed list has no table, though it says that names are quiet.
    @Test func anAuditOfASiteWithoutATable() async throws {
        try await testSite.forgeTargets { signed in
            var targets = signed["targets"]?.members ?? [:]
            targets["packs/assetvault.names.avpack"] = nil
            signed["targets"] = .object(targets)
        }
        for keys in [[], testSite.keys] {
            let audit = try await Command.run(["audit", testSite.site] + keys)
            #expect(audit.exitCode == 66, "\(audit.errorText)")
            #expect(audit.errorText.contains("lists no table of them"), "\(audit.errorText)")
        }
    }
}
