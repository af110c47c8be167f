import FaultServer
import Foundation
import StrictJSON
import Testing

/// Sites whose public metadata hold no readable names.
@Suite(.timeLimit(.minutes(5))) struct QuietNameTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    /// Two packs, and a resource tree of three: all words that must not be read begin with `hush`.
    init() async throws {
        testSite = try await TestSite()
        for name in ["one", "two"] { try folder.write("\(name)/file", "content of \(name)") }
        for name in ["a", "b1", "b2"] { try folder.write("tree/\(name)", "content of \(name)") }
        try declare(isQuiet: true)
        try await testSite.publish()
    }

    private func declare(isQuiet: Bool, _ change: (inout JSONObject) -> Void = { _ in }) throws {
        try testSite.settings {
            $0["quietNames"] = .bool(isQuiet)
            $0["packs"] = [
                "hush/one": [
                    "source": .string(folder["one"]), "policy": "essential", "tags": ["hush-tag"],
                    "traits": ["hush-trait": "hush-value"],
                ],
                "hush-two": ["source": .string(folder["two"]), "policy": "onDemand"],
            ]
            $0["resources"] = [
                "hushgame": [
                    "source": .string(folder["tree"]), "traits": ["hushscale": ["match": "nearest"]],
                    "rules": [
                        ["paths": "a", "tags": ["husha"]],
                        ["paths": "b1", "tags": ["hushb"], "traits": ["hushscale": 1]],
                        ["paths": "b2", "tags": ["hushb"], "traits": ["hushscale": 2]],
                    ],
                ]
            ]
            change(&$0)
        }
    }

    /// What has a version in a store, by name.
    private func loaded(_ store: String? = nil) async throws -> Set<String> {
        let answer = try await Command.run("status", "--store", store ?? testSite.store, "--json").succeeded()
        let packs = try #require(try answer.json()["packs"]?.elements).filter { $0["version"] != nil }
        return Set(packs.compactMap { ($0["name"] ?? $0["id"])?.text }).subtracting(["assetvault.names"])
    }

    /// Also in bins, with their index of tags, and in each channel.
    @Test(arguments: [nil, 16] as [Int64?], [false, true])
    func nothingIsReadable(bins: Int64?, hasChannels: Bool) async throws {
        try declare(isQuiet: true) {
            $0["bins"] = bins.map { .integer($0) }
            if hasChannels { $0["channels"] = ["beta", "live"] }
        }
        try await testSite.publish()
        if hasChannels {
            try await Command.run("promote", testSite.vault, "--from", "beta", "--to", "live", "--all")
                .succeeded()
        }
        for file in try Tree(testSite.site).files {
            let bytes = try folder.bytes("vault/site/\(file)")
            let text = String(decoding: bytes, as: UTF8.self) + file
            #expect(!text.contains("hush"), "\(file)")
        }
        // Nothing public says where the packs of a tag are listed.
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url, "--tag", "hushb", "--device", "hushscale=1").succeeded()
        #expect(Set(server.found.filter { $0.contains(".packs-") }).count == Int(bins ?? 0))
        #expect(try await loaded() == ["hushgame/hushb/hushscale-1"])
        let audit = try await Command.run(["audit", testSite.site] + testSite.keys).succeeded()
        #expect(audit.text.contains("ok: 6 packs"), "\(audit.text)")
        let before = try Tree(testSite.site)
        let again = try await testSite.publish()
        #expect(again.text.contains("unchanged  6 packs"), "\(again.text)")
        #expect(try Tree(testSite.site) == before)
    }

    @Test func whoHasTheKeySeesNames() async throws {
        try await testSite.fetch().succeeded()
        #expect(try await loaded() == ["hush/one"])
        #expect(try await testSite.tree(of: "hush/one") == Tree(folder["one"]))
        try await testSite.fetch(nil, "hush-two").succeeded()
        try await testSite.fetch(nil, "--tag", "hushb", "--device", "hushscale=2").succeeded()
        #expect(
            try await loaded() == ["hush/one", "hush-two", "hushgame/hushb/hushscale-2"])
        let unknown = try await testSite.fetch(nil, "hush-tow")
        #expect(unknown.errorText.contains("did you mean 'hush-two'"), "\(unknown.errorText)")
        try await Command.run("remove", "hush-two", "--store", testSite.store).succeeded()
        #expect(try await loaded().contains("hush-two") == false)
        try folder.write("fresh/file", "new")
        try declare(isQuiet: true) {
            $0["packs"] = ["hush/new": ["source": .string(folder["fresh"]), "policy": "essential"]]
        }
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await loaded().contains("hush/new"))
    }

    /// Without a key there are no names; a downloader downloads what the app's names say.
    @Test func aDownloaderWithoutKeys() async throws {
        let keyless = try await testSite.fetch(into: folder["keyless"], withKeys: false)
        #expect(keyless.exitCode == 0, "\(keyless.errorText)")
        #expect(try await loaded(folder["keyless"]).isEmpty)
        try await testSite.fetch().succeeded()
        try folder.write("one/file", "a newer content")
        try await testSite.publish()
        let downloaded = try await Command.run(
            "downloader", testSite.site, "--store", testSite.store, "--request", "periodic")
        #expect(downloaded.exitCode == 0, "\(downloaded.errorText)")
        #expect(!downloaded.errorText.contains("hush-two"), "\(downloaded.errorText)")
        try await Command.run(["unlock", "hush/one", "--store", testSite.store] + testSite.keys).succeeded()
        #expect(try await testSite.tree(of: "hush/one") == Tree(folder["one"]))
    }

    /// The files of packs, without the table of names.
    private func packFiles(in site: String) throws -> Set<String> {
        Set(try Tree("\(site)/targets").files.filter { !$0.hasSuffix(".assetvault.names.avpack") })
    }

    /// The same names for other vault keys, other ones in another vault. The table is sealed anew, since it has slots for them.
    @Test func namesStay() async throws {
        let before = try packFiles(in: testSite.site)
        try await Command.run("keygen", "-o", folder["new.jwks"]).succeeded()
        let both = JSONValue.object([
            "keys": .array(
                ["vault/keys/vault.jwks", "new.jwks"].flatMap { name -> [JSONValue] in
                    (try? folder.json(name)["keys"]?.elements) ?? []
                })
        ])
        try folder.write("vault/keys/vault.jwks", both.pretty())
        try folder.setPermissions("vault/keys/vault.jwks", 0o600)
        try await testSite.publish()
        #expect(try packFiles(in: testSite.site) == before)
        let other = try await QuietNameTests()
        let names = Set(try packFiles(in: other.testSite.site).map { $0.suffix(40) })
        #expect(names.isDisjoint(with: before.map { $0.suffix(40) }))
    }

    /// Names become public, and quiet again: clients follow.
    @Test func quietOnAndOff() async throws {
        try await testSite.fetch().succeeded()
        for (isQuiet, content) in [(false, "public"), (true, "quiet again")] {
            try declare(isQuiet: isQuiet)
            try folder.write("one/file", content)
            try await testSite.publish()
            try await testSite.fetch().succeeded()
            #expect(try await testSite.tree(of: "hush/one") == Tree(folder["one"]))
        }
        let audit = try await Command.run(["audit", testSite.site] + testSite.keys)
        #expect(audit.exitCode == 0, "\(audit.text) \(audit.errorText)")
    }

    /// A host that serves another version of the table of names, or a damaged one.
    @Test func aMapOfAnotherVersion() async throws {
        func table() throws -> [String] {
            try Tree(testSite.site).files.filter { $0.hasSuffix(".assetvault.names.avpack") }
        }
        let old = try #require(try table().first)
        try declare(isQuiet: true) { $0["resources"] = nil }
        try await testSite.publish()
        let new = try #require(try table().first { $0 != old })
        let honest = try folder.bytes("vault/site/\(new)")
        try folder.write("vault/site/\(new)", folder.bytes("vault/site/\(old)"))
        let result = try await testSite.fetch()
        #expect([65, 76].contains(result.exitCode), "\(result.errorText)")
        // Its names don't count.
        #expect(try await loaded().allSatisfy { $0.hasPrefix("q") })
        try folder.write("vault/site/\(new)", honest)
        try await testSite.fetch().succeeded()
        #expect(try await loaded() == ["hush/one"])
    }

    /// The author's commands take and show the declared names.
    @Test func anAuthorSeesNames() async throws {
        let listing = try await Command.run(["list", testSite.site] + testSite.keys).succeeded()
        #expect(listing.text.contains("hush/one  version 1  essential"), "\(listing.text)")
        #expect(listing.text.contains("tags: hushb"))
        let keyless = try await Command.run("list", testSite.site).succeeded()
        #expect(!keyless.text.contains("hush"))
        #expect(keyless.errorText.contains("give --keys"))
        let plan = try await Command.run("plan", testSite.vault).succeeded()
        #expect(!plan.text.contains("not published"), "\(plan.text)")
        try await Command.run("keygen", "-o", folder["other.jwks"]).succeeded()
        let unknown = try await Command.run(
            "plan", testSite.vault, "--keys", "file:\(folder["other.jwks"])"
        ).succeeded()
        #expect(unknown.errorText.contains("no key opens the names"), "\(unknown.errorText)")
    }

    /// With keys, a listing without the table of names is an error.
    @Test func theTableIsNotListed() async throws {
        try await testSite.forgeTargets { signed in
            var targets = try #require(signed["targets"]?.members)
            targets["packs/assetvault.names.avpack"] = nil
            signed["targets"] = .object(targets)
        }
        try await Command.run(["list", testSite.site] + testSite.keys).failed(66, naming: "no table of them")
        try await Command.run("list", testSite.site).succeeded()
    }

    @Test func anEarlierVersionIsRestored() async throws {
        let first = try Tree(folder["one"])
        for content in ["second", "third"] {
            try folder.write("one/file", content)
            try await testSite.publish()
        }
        try await Command.run("restore", testSite.vault, "hush/one", "--version", "4")
            .failed(66, naming: "version 4 of 'hush/one'")
        try await Command.run("restore", testSite.vault, "hush/one", "--version", "1").succeeded()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "hush/one") == first)
        let latest = try await Command.run("restore", testSite.vault, "hush/one", "--latest", "--json")
            .succeeded()
        let pack = try #require(
            try latest.json()["packs"]?.elements?.first { $0["name"]?.text == "hush/one" })
        #expect(pack["version"] == 4, "\(latest.text)")
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "hush/one") == Tree(folder["one"]))
        try await Command.run("restore", testSite.vault, "hushgame/husha", "--version", "1")
            .failed(64, naming: "resource tree 'hushgame'")
    }

    @Test func channels() async throws {
        try declare(isQuiet: true) { $0["channels"] = ["beta", "live"] }
        try await testSite.publish()
        try await Command.run(
            "promote", testSite.vault, "--from", "beta", "--to", "live", "hush/one"
        ).failed(64, naming: "table of all")
        try await Command.run("promote", testSite.vault, "--from", "beta", "--to", "live", "--all")
            .succeeded()
        for channel in ["beta", "live"] {
            let store = folder["store-\(channel)"]
            try await testSite.fetch(nil, "--channel", channel, into: store).succeeded()
            #expect(try await loaded(store) == ["hush/one"])
        }
    }

    @Test func refusals() async throws {
        for (id, problem) in [("names", "table of quiet names"), ("hidden", "stands for hidden names")] {
            try declare(isQuiet: true) {
                $0["packs"] = .object(["assetvault.\(id)": ["source": .string(folder["one"])]])
            }
            try await Command.run("publish", testSite.vault).failed(64, naming: problem)
        }
        try declare(isQuiet: true) {
            var tree = $0["resources"]?["hushgame"]?.members ?? [:]
            tree["apps"] = ["from": "2"]
            $0["resources"] = ["hushgame": .object(tree)]
        }
        try await Command.run("publish", testSite.vault).failed(64, naming: "made no more")
    }
}
