import FaultServer
import Foundation
import StrictJSON
import Testing

/// Sites whose public metadata hold no readable names; `Scripts/Channels/quiet-name.txt` has what is done with them.
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
}
