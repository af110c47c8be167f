import Foundation
import StrictJSON
import Testing
import VaultCrypto

/// What a store takes on the disk, and what may go.
@Suite(.timeLimit(.minutes(5))) struct StoreUsageTests {
    let site: RequestSite
    private var testSite: TestSite { site.testSite }

    init() async throws {
        site = try await RequestSite()
        try await testSite.fetch().succeeded()
        try await site.access("level2", "level3", script: "true").succeeded()
    }

    /// What `usage` says is held against limits: the initial install, and what is in access.
    @Test func limitsAreExceeded() async throws {
        let limited = ["usage", "--limits", "odr-2015"] + site.store
        for (id, size) in [("level1", 2_000_000_000), ("level1", 2_000_000_001), ("level2", 3_000_000_000)]
            as [(String, Int64)]
        {
            // This record states a size that no test should make.
            let record = "store/permanent/@state/game/\(id)/@record.json"
            var json = try testSite.folder.json(record).members ?? [:]
            var loaded = json["loaded"]?.members ?? [:]
            var target = loaded["target"]?.members ?? [:]
            var pack = target["custom"]?["assetvault"]?.members ?? [:]
            pack["openedSize"] = .integer(size)
            target["custom"] = ["assetvault": .object(pack)]
            loaded["target"] = .object(target)
            json["loaded"] = .object(loaded)
            json["checksum"] = nil
            json["checksum"] = .string(SHA256.hash(JSONValue.object(json).canonical().span).hex)
            try testSite.folder.write(record, JSONValue.object(json).canonical())
            if size == 2_000_000_000 {
                try await Command.run(limited).succeeded()
            } else if id == "level1" {
                let result = try await Command.run(limited)
                #expect(
                    result.exitCode == 78 && result.text.contains("initial install: 2 GB opened"),
                    "\(result.text)")
                #expect(result.errorText.contains("initial install: \(size) bytes, and 2000000000"))
                try await Command.run(["usage", "--limits", "apple-2024"] + site.store).succeeded()
            }
        }
        try await testSite.fetch(nil, "game/level1").succeeded()
        try await Command.whileRunning(
            ["access", "level2"] + site.store + testSite.keys + [
                "--", "sh", "-c", "echo begun; exec sleep 300",
            ]
        ) { program in
            #expect(try await program.firstLine() == "begun")
            let result = try await Command.run(limited)
            #expect(result.exitCode == 78, "\(result.errorText)")
            program.send(SIGKILL)
        }
    }

    /// What a program has in access stays until that ends, and 'remove' says so.
    @Test func removalOfWhatIsInAccess() async throws {
        try await Command.whileRunning(
            ["access", "level2"] + site.store + testSite.keys + [
                "--", "sh", "-c", "echo begun; exec sleep 300",
            ]
        ) { program in
            #expect(try await program.firstLine() == "begun")
            let held = try await Command.run(["remove", "game/level2"] + site.store).succeeded()
            #expect(
                held.errorText == "removing  game/level2: it goes once its access has ended\n",
                "\(held.errorText)")
            program.send(SIGKILL)
        }
        let free = try await Command.run(["remove", "game/level3"] + site.store).succeeded()
        #expect(free.errorText == "removed  game/level3\n", "\(free.errorText)")
    }
}
