import FaultServer
import Foundation
import StrictJSON
import Testing

/// A table of quiet names that does not arrive, or can't be opened, is one pack that fails.
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
    private func declare(_ packs: [String], isQuiet: Bool = true) throws {
        try testSite.settings {
            $0["quietNames"] = .bool(isQuiet)
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

    private func publishAnother() async throws {
        try declare(["one", "new"])
        try await testSite.publish()
    }

    private func access(_ words: String...) async throws -> CommandResult { try await access(words) }

    private func access(_ words: [String]) async throws -> CommandResult {
        try await Command.run(["access"] + words + ["--store", testSite.store, "--", "true"])
    }

    private func table() throws -> [String] {
        try Tree(testSite.site).files.filter { $0.hasSuffix(".assetvault.names.avpack") }
    }

    /// The state whose names are known counts offline, whatever comes after it.
    @Test(arguments: ["withheld", "keyless", "other key"]) func aTagOfAnEarlierState(_ table: String)
        async throws
    {
        try await testSite.fetch().succeeded()
        for round in 1...3 {
            try folder.write("new/file", "round \(round)")
            try await publishAnother()
            if round == 3 {
                try declare(["new"])
                try await testSite.publish()
            }
            switch table {
            case "withheld":
                let server = try FaultServer(testSite.site) { request in
                    request.path.contains("assetvault.names") ? .status(404) : .file
                }
                #expect(try await testSite.fetch(server.url).exitCode == 72)
            case "keyless": try await testSite.fetch(withKeys: false).succeeded()
            default:
                let key = folder["other-\(round).jwks"]
                try await Command.run("keygen", "-o", key).succeeded()
                try await testSite.fetch(nil, "--keys", "file:\(key)", withKeys: false).succeeded()
            }
            let found = try await access("one")
            #expect(found.exitCode == 0, "\(round): \(found.errorText)")
        }
        try await testSite.fetch().succeeded()
        #expect(try await access("new").exitCode == 0)
        // The present state is known, and has no such tag.
        #expect(try await access("one").exitCode == 67)
        #expect(try !folder.exists("store/permanent/@trust/earlier"))
    }

    /// So does one whose table only `unlock` opened.
    @Test(arguments: ["downloader", "fetch"]) func aStateThatUnlockOpened(broughtBy command: String)
        async throws
    {
        func bring(from url: String) async throws {
            let words = [command, url, "--store", testSite.store, "--trust", testSite.root]
            _ = try await Command.run(words + (command == "fetch" ? [] : ["--request", "install"]))
            try await Command.run(["unlock", "--store", testSite.store] + testSite.keys).succeeded()
        }
        try await bring(from: testSite.site)
        #expect(try await access("one").exitCode == 0)
        try await publishAnother()
        let server = try FaultServer(testSite.site) { request in
            request.path.contains("assetvault.names") ? .status(404) : .file
        }
        try await bring(from: server.url)
        #expect(try await testSite.status().values.contains { $0.id.hasPrefix("q") })
        let found = try await access("one")
        #expect(found.exitCode == 0, "\(found.errorText)")
        try await bring(from: testSite.site)
        #expect(try await access("new").exitCode == 0)
    }

    /// A kill between the table and the names that the store keeps of it.
    @Test func killedBeforeTheNamesAreKept() async throws {
        try await testSite.fetch().succeeded()
        try await publishAnother()
        try await testSite.fetch(withKeys: false).succeeded()
        let unlock = ["unlock", "--store", testSite.store] + testSite.keys
        #expect(try await Command.run(unlock, dyingAt: "activationRecorded").exitCode == 137)
        #expect(try await testSite.status()["hush/new"] == nil)
        try await Command.run(unlock).succeeded()
        #expect(try await testSite.status()["hush/new"]?.version == 1)
        #expect(try await access("new").exitCode == 0)
    }

    /// The last public state counts where names became quiet.
    @Test func aTagOfAPublicState() async throws {
        try declare(["one"], isQuiet: false)
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        try declare(["one"])
        try await testSite.publish()
        for _ in 1...2 {
            try await testSite.fetch(withKeys: false).succeeded()
            #expect(try await access("one").exitCode == 0)
            try await publishAnother()
        }
        try await testSite.fetch().succeeded()
        #expect(try await access("new").exitCode == 0)
    }

    /// Without any state whose names are known, the key is what is missing.
    @Test func noStateWithNames() async throws {
        let kid = try #require(
            try folder.json("vault/keys/vault.jwks")["keys"]?.elements?[0]["kid"]?.text)
        try await testSite.fetch(withKeys: false).succeeded()
        try await access("one").failed(77, naming: "names are quiet", kid)
    }

    /// All that does not need the names is brought, and the error of the table comes last.
    @Test(arguments: ["missing", "other bytes"]) func aTableThatCannotBeHad(_ fault: String) async throws {
        let server = try FaultServer(testSite.site) { request in
            guard request.path.contains("assetvault.names") else { return .file }
            return fault == "missing" ? .status(404) : .bytes(Array("none".utf8), length: nil)
        }
        let result = try await testSite.fetch(server.url)
        #expect(fault == "missing" ? result.exitCode == 72 : [65, 76].contains(result.exitCode))
        #expect(result.errorText.contains("their table is not open"), "\(result.errorText)")
        var packs = try await testSite.status()
        #expect(packs["assetvault.names"]?.state == "failed", "\(packs)")
        #expect(packs.values.contains { $0.version == 1 && $0.id.hasPrefix("q") }, "\(packs)")
        try await testSite.fetch().succeeded()
        packs = try await testSite.status()
        #expect(packs["hush/one"]?.version == 1, "\(packs)")
        #expect(packs["assetvault.names"]?.state == "loaded", "\(packs)")
    }

    /// Its bytes count among those that may come over a metered network.
    @Test func theAllowanceOfACall() async throws {
        let size = try folder.bytes("vault/site/\(try #require(try table().first))").count
        let total = try Tree(testSite.site).files.filter { $0.hasSuffix(".avpack") }
            .map { try folder.bytes("vault/site/\($0)").count }.reduce(0, +)
        let limited = ["--metered", "--metered-allowance"]
        let server = try FaultServer(testSite.site)
        // Enough for each of the two, and not for both.
        let allowance = max(size, total - size) + 16
        try #require(allowance < total)
        let result = try await testSite.fetch(server.url, limited[0], limited[1], "\(allowance)")
        #expect(result.exitCode == 78, "\(result.errorText)")
        let packs = try await testSite.status()
        #expect(packs.values.filter { $0.version != nil }.count == 1, "\(packs)")
        // Too large by itself, it keeps nothing else away.
        try #require(total - size < size)
        let other = folder["other"]
        let small = try await testSite.fetch(server.url, limited[0], limited[1], "\(size - 1)", into: other)
        #expect(small.exitCode == 78, "\(small.errorText)")
        #expect(small.errorText.contains("their table is not open"), "\(small.errorText)")
        #expect(try await testSite.status(of: other).values.contains { $0.version == 1 })
        // Beside packs that are too large as well it is named.
        let none = try await testSite.fetch(server.url, limited[0], limited[1], "1", into: folder["none"])
        #expect(none.exitCode == 78, "\(none.errorText)")
        #expect(none.errorText.contains("their table is not open"), "\(none.errorText)")
    }

    /// Fetches without a key, and damages the table.
    private func fetchDamagedTable() async throws {
        try await testSite.fetch(withKeys: false).succeeded()
        let name = try #require(
            try testSite.files(in: "shared/packs").first { $0.hasPrefix("assetvault.names/") })
        var bytes = try folder.bytes("store/shared/packs/\(name)")
        bytes[bytes.count / 2] ^= 1
        try folder.write("store/shared/packs/\(name)", bytes)
    }

    /// The key is right, so it is not what is missing.
    @Test func accessByADamagedTable() async throws {
        try await fetchDamagedTable()
        try await access(["one"] + testSite.keys).failed(65, naming: "damaged", "assetvault.names")
    }

    /// Others are opened beside a damaged table, and with keys its error comes last.
    @Test func aDamagedTableThatWaits() async throws {
        try await fetchDamagedTable()
        let result = try await Command.run(["unlock", "--store", testSite.store] + testSite.keys)
        #expect(result.exitCode == 65, "\(result.errorText)")
        #expect(result.errorText.contains("their table is not open"), "\(result.errorText)")
        let packs = try await testSite.status()
        #expect(packs.values.contains { $0.version == 1 && $0.id.hasPrefix("q") }, "\(packs)")
        #expect(packs["assetvault.names"]?.failure != nil, "\(packs)")
        // It is no key that is missing.
        try await access(["one"] + testSite.keys).failed(66, naming: "their table is not open")
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status()["hush/one"]?.version == 1)
    }

    /// An audit names what it can where the table of one channel is gone, and says what that means for clients.
    @Test func anAuditWithoutOneTable() async throws {
        try testSite.settings { $0["channels"] = ["beta", "live"] }
        try await testSite.publish()
        try await Command.run("promote", testSite.vault, "--from", "beta", "--to", "live", "--all")
            .succeeded()
        let older = try table()
        try await publishAnother()
        try await Tool.run("rm", "\(testSite.site)/\(try #require(older.first))")
        let audit = try await Command.run(["audit", testSite.site] + testSite.keys)
        #expect(audit.exitCode == 65, "\(audit.errorText)")
        for name in ["hush/one", "hush/new"] { #expect(audit.text.contains(name), "\(audit.text)") }
        #expect(audit.text.contains("by its name or a tag"), "\(audit.text)")
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

    /// A key that opens the table of one channel is enough for what that one names.
    @Test func aKeyOfOneChannel() async throws {
        try await Command.run("keygen", "-o", folder["vault/keys/tester.jwks"]).succeeded()
        try declare(["one"])
        try testSite.settings {
            $0["channels"] = ["beta", "live"]
            $0["audiences"] = ["tester": "file:keys/tester.jwks"]
        }
        try await testSite.publish()
        try await Command.run("promote", testSite.vault, "--from", "beta", "--to", "live", "--all")
            .succeeded()
        try declare(["one", "new"])
        try testSite.settings {
            var packs = $0["packs"]?.members ?? [:]
            var pack = packs["hush/new"]?.members ?? [:]
            pack["for"] = ["tester"]
            packs["hush/new"] = .object(pack)
            $0["packs"] = .object(packs)
        }
        try await testSite.publish()
        let key = ["--keys", "file:\(folder["vault/keys/tester.jwks"])"]
        let audit = try await Command.run(["audit", testSite.site] + key)
        #expect(audit.text.contains("hush/new"), "\(audit.text)")
        let promotion = try await Command.run(
            ["promote", testSite.vault, "--from", "beta", "--to", "live", "--all", "--dry-run"] + key
        ).succeeded()
        #expect(promotion.text.contains("hush/new"), "\(promotion.text)")
        try await Command.run(["list", testSite.site] + key).failed(77)
    }
}
