import FaultServer
import Testing
import VaultBase

/// Sites whose public metadata hold no readable names; `Scripts/Channels/opaque-name.txt` has what is done with them.
@Suite(.timeLimit(.minutes(5))) struct OpaqueNameTests {
    let world: World

    /// Two packs, and a resource tree of three: all words that must not be read begin with `hush`.
    init() async throws {
        world = try await World()
        for name in ["one", "two"] { try world.write("\(name)/file", "content of \(name)") }
        for name in ["a", "b1", "b2"] { try world.write("tree/\(name)", "content of \(name)") }
        try declare(isOpaque: true)
        try await world.publish()
    }

    private func declare(isOpaque: Bool, _ change: (inout JSONObject) -> Void = { _ in }) throws {
        try world.settings {
            $0["opaqueNames"] = .bool(isOpaque)
            $0["packs"] = [
                "hush/one": [
                    "source": .string(world["one"]), "policy": "essential", "tags": ["hush-tag"],
                    "traits": ["hush-trait": "hush-value"],
                ],
                "hush-two": ["source": .string(world["two"]), "policy": "onDemand"],
            ]
            $0["resources"] = [
                "hushgame": [
                    "source": .string(world["tree"]), "traits": ["hushscale": ["match": "nearest"]],
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

    /// Also in bins, with their index of tags, and in each channel.
    @Test(arguments: [nil, 16] as [Int64?], [false, true])
    func nothingIsReadable(bins: Int64?, hasChannels: Bool) async throws {
        try declare(isOpaque: true) {
            $0["bins"] = bins.map { .integer($0) }
            if hasChannels { $0["channels"] = ["beta", "live"] }
        }
        try await world.publish()
        if hasChannels {
            try await world.run("promote $VAULT --from beta --to live --all").succeeded()
        }
        for file in try Tree(world.site).files {
            let bytes = try world.bytes("vault/site/\(file)")
            let text = String(decoding: bytes, as: UTF8.self) + file
            #expect(!text.contains("hush"), "\(file)")
        }
        // Nothing public says where the packs of a tag are listed.
        let server = try FaultServer(world.site)
        try await world.fetch("--tag hushb --device hushscale=1", from: server.url).succeeded()
        #expect(Set(server.found.filter { $0.contains(".packs-") }).count == Int(bins ?? 0))
        #expect(try await world.loadedNames() == ["hushgame/hushb/hushscale-1"])
        let audit = try await world.run("audit $SITE $KEYS").succeeded()
        #expect(audit.text.contains("ok: 6 packs"), "\(audit.text)")
        let before = try Tree(world.site)
        let again = try await world.publish()
        #expect(again.text.contains("unchanged  6 packs"), "\(again.text)")
        #expect(try Tree(world.site) == before)
    }

    /// With keys, a listing without the table of names is an error.
    @Test func theTableIsNotListed() async throws {
        try await world.forgeTargets {
            try $0.change("targets") { $0["packs/assetvault.names.avpack"] = nil }
        }
        try await world.run("list $SITE $KEYS").failed(66, naming: "no table of them")
        try await world.run("list $SITE").succeeded()
    }
}
