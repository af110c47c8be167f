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

    @Test func usageOfAStore() async throws {
        let usage = try await site.usage()
        #expect(usage.keys.sorted() == ["level1", "level2", "level2.level3", "level3"])
        #expect(usage["level1"]?["purgeReason"] == nil && usage["level2"]?["purgeReason"] == "onDemand")
        #expect(usage["level2"]?["openedSize"] == 5 && usage["level2"]?["tags"] == ["level2"])
        #expect(usage["level3"]?["preservation"] == "0.8")
        let text = try await Command.run(["usage"] + site.store).succeeded().text
        #expect(text.contains("game/level2  ") && text.contains("may go: on demand"), "\(text)")
        #expect(text.contains("initial install: 5 B opened"), "\(text)")
        #expect(
            text.contains(/game\/level2 .*4.1 KB on the disk, +[\d.]+ K?B sealed, +5 B opened/), "\(text)")
        let limited = ["usage", "--limits", "odr-2015"] + site.store
        let limits = try await Command.run(limited).succeeded().text
        #expect(limits.contains(/░+  initial install +5 B of 2 GB/), "\(limits)")
        let stated = try await Command.run(limited + ["--json"]).succeeded().json()["limits"]?.elements
        #expect(stated?.map { $0["size"]?.number } == [5, 5, 5, 0])
        #expect(stated?.map { $0["limit"]?.number } == [Int64](repeating: 2_000_000_000, count: 4))
        let television = ["usage", "--limits", "odr-2015-tvos"] + site.store
        let ofTelevision = try await Command.run(television).succeeded().text
        #expect(ofTelevision.contains(/packs that come with the app +5 B of 200 MB/), "\(ofTelevision)")
        try await Command.run(["usage", "--limits", "odr-2016"] + site.store).failed(64, naming: "odr-2015")
        try await Command.run(["usage", "--store", testSite.folder["nowhere"]]).failed(66)
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

    /// The variant that a device no longer needs is on the disk, and may go; it is not part of the initial install.
    @Test func usageAfterAChangeOfDevice() async throws {
        let folder = testSite.folder
        for scale in 1...2 {
            try folder.write("game/menu/@\(scale)x", [UInt8](repeating: 1, count: 1000 * scale))
        }
        try testSite.settings {
            var tree = $0["resources"]?["game"]?.members ?? [:]
            tree["traits"] = ["scale": ["match": "nearest"]]
            tree["rules"] = .array(
                (tree["rules"]?.elements ?? []) + [["paths": "menu/**", "tags": ["level1", "menu"]]]
                    + (1...2).map { ["paths": .string("*@\($0)x"), "traits": ["scale": .integer($0)]] })
            $0["resources"] = ["game": .object(tree)]
        }
        try await testSite.publish()
        for (scale, size) in [(1, 1005), (2, 2005), (1, 1005)] as [(Int, Int64)] {
            try await testSite.fetch(nil, "--device", "scale=\(scale)").succeeded()
            let answer = try await Command.run(["usage", "--json"] + site.store).succeeded().json()
            #expect(answer["initialSize"]?.number == size, "\(scale)")
        }
        let usage = try await site.usage()
        #expect(usage["level1.menu/scale-1"]?["purgeReason"] == nil)
        #expect(usage["level1.menu/scale-2"]?["purgeReason"] == "replacedVariant")
    }

    /// Of a pack with several tags those count for which the store has no other priority as the site lists them.
    @Test func preservationOfSharedPacks() async throws {
        #expect(try await site.usage()["level2.level3"]?["preservation"] == "0.8")
        try await Command.run(["preserve", "level3", "--priority", "0.1"] + site.store).succeeded()
        let usage = try await site.usage()
        #expect(usage["level3"]?["preservation"] == "0.1")
        #expect(usage["level2.level3"]?["preservation"] == "0.5")
        #expect(try await site.purge("--dry-run") == ["level3", "level2", "level2.level3"])
    }

    /// What was set counts; what was probably meant is said.
    @Test func priorities() async throws {
        func preserve(_ priority: String, _ tags: String...) async throws -> String {
            let arguments = ["preserve"] + tags + ["--priority", priority] + site.store
            return try await Command.run(arguments).succeeded().errorText
        }
        #expect(try await preserve("1", "level1", "level2") == "")
        let unknown = try await preserve("1", "levl3", "level2")
        #expect(unknown.contains("has the tag 'levl3' yet; did you mean 'level"), "\(unknown)")
        let all = try await preserve("1", "level3")
        #expect(all.hasPrefix("warning: all tags have the priority 1"), "\(all)")
        #expect(try await preserve("0.9", "level3") == "")
    }

    /// It counts as empty, and the next change replaces it.
    @Test func aDamagedFileOfPriorities() async throws {
        for damage in ["", "{", #"{"level2": 3}"#] {
            try await Command.run(["preserve", "level2", "--priority", "1"] + site.store).succeeded()
            #expect(try await site.usage()["level2"]?["preservation"] == "1.0")
            try testSite.folder.write("store/permanent/@preservation", damage)
            for arguments in [["usage"], ["purge", "--dry-run"], ["preserve", "level2"]] {
                let result = try await Command.run(arguments + site.store).succeeded()
                #expect(result.errorText.contains("@preservation"), "\(result.errorText)")
            }
            #expect(try await site.usage()["level2"]?["preservation"] == "0.5")
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

    /// By preservation priority, then by last use.
    @Test func theOrderOfPurging() async throws {
        let would = try await site.purge("--dry-run")
        #expect(would.last == "level3" || would.last == "level2.level3", "\(would)")
        #expect(Set(would) == ["level2", "level2.level3", "level3"] && would.first == "level2")
        #expect(try await site.usage().count == 4)
        // Enough is free.
        #expect(try await site.purge("--until-free", "1") == [])
        let enough = try await Command.run(["purge", "--until-free", "1"] + site.store).succeeded()
        #expect(enough.errorText.hasPrefix("enough is free: "), "\(enough.errorText)")
        let tooMuch = ["purge", "--until-free", "1000TB"] + site.store
        let dryRun = try await Command.run(tooMuch + ["--dry-run"])
        #expect(dryRun.exitCode == 71)
        #expect(dryRun.errorText.contains(#/ would be free, [\d.]+ [TP]B less than wanted/#))
        let summary = /3 packs, [\d.]+ K?B; [\d.]+ [KMGT]?B would be free then/
        #expect(dryRun.errorText.contains(summary), "\(dryRun.errorText)")
        let gone = try await Command.run(tooMuch)
        #expect(gone.exitCode == 71)
        #expect(gone.errorText.contains(/3 packs, .* are free now/), "\(gone.errorText)")
        #expect(gone.errorText.contains(#/ are free, [\d.]+ [TP]B less than wanted/#))
        #expect(gone.text.split(separator: "\n").count == 3)
        #expect(try await site.usage().keys.sorted() == ["level1"])
        let text = try await Command.run(["purge"] + site.store).succeeded()
        #expect(text.errorText.hasPrefix("nothing may go; "), "\(text.errorText)")
        // It comes back when it is asked for, and not before.
        try await testSite.fetch().succeeded()
        #expect(try await site.usage().keys.sorted() == ["level1"])
        let back = try await site.access("level2", script: "cat \"$ASSETVAULT_RESOURCES/levels/2/map\"")
        #expect(back.text == "map 2")
    }
}
