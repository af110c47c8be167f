import FaultServer
import Foundation
import StrictJSON
import Testing

/// Each file is matched by itself: a device gets every file once, in the variant that fits it, and nothing twice.
@Suite(.timeLimit(.minutes(5))) struct VariantsPerFileTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    /// A sky in three scales, a tree in two, a boss in one, and a map without scales.
    init() async throws {
        testSite = try await TestSite()
        for scale in 1...3 { try folder.write("game/ui/sky@\(scale)x.png", "sky \(scale)") }
        for scale in [1, 3] { try folder.write("game/ui/tree@\(scale)x.png", "tree \(scale)") }
        try folder.write("game/ui/boss@3x.png", "boss 3")
        try folder.write("game/ui/map", "map")
    }

    private func declare(
        sharing isShared: Bool, _ change: (inout JSONObject) -> Void = { _ in }
    ) throws {
        let scales = (1...3).map { scale -> JSONValue in
            var rule: JSONObject = [
                "paths": .string("*@\(scale)x.png"), "traits": ["scale": .integer(Int64(scale))],
            ]
            if isShared { rule["as"] = "*.png" }
            return .object(rule)
        }
        try testSite.settings {
            $0["resources"] = [
                "game": [
                    "source": .string(folder["game"]), "traits": ["scale": ["match": "nearest"]],
                    "rules": .array([["paths": "ui/**", "tags": ["menu"]]] + scales), "initial": ["menu"],
                ]
            ]
            change(&$0)
        }
    }

    private func fetch(_ arguments: String..., from url: String? = nil) async throws -> CommandResult {
        try await Command.run(
            ["fetch", url ?? testSite.site, "--store", testSite.store, "--trust", testSite.root] + arguments
                + testSite.keys)
    }

    /// The paths that a program finds that has the tag, each with the file's content.
    private func accessed(_ arguments: String...) async throws -> [String: String] {
        let script =
            #"cd "$ASSETVAULT_RESOURCES"; for f in $(find -L . -type f); do echo "$f:$(cat $f)"; done"#
        let result = try await Command.run(
            ["access", "menu", "--store", testSite.store] + arguments + ["--", "sh", "-c", script])
        #expect(result.exitCode == 0, "\(result.errorText)")
        let lines = result.text.split(separator: "\n").map { $0.split(separator: ":").map(String.init) }
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0].dropFirst(5)), $0[1]) })
    }

    /// What devices get of it: of a scale, of none, and of more than there are.
    private static let expected = [
        "1": ("sky 1", "tree 1"), "2": ("sky 2", "tree 3"), "3": ("sky 3", "tree 3"),
        "9": ("sky 3", "tree 3"),
        "none": ("sky 3", "tree 3"),
    ]

    @Test(arguments: [false, true], [false, true])
    func everyDeviceGetsEveryFile(isShared: Bool, isQuiet: Bool) async throws {
        try declare(sharing: isShared) { $0["quietNames"] = .bool(isQuiet) }
        let published = try await testSite.publish()
        #expect(!published.errorText.contains("variant"), "\(published.errorText)")
        for (scale, expected) in Self.expected.sorted(by: { $0.key < $1.key }) {
            try? FileManager.default.removeItem(atPath: testSite.store)
            let device = scale == "none" ? [] : ["--device", "scale=\(scale)"]
            try await Command.run(
                [
                    "fetch", testSite.site, "--store", testSite.store, "--trust", testSite.root, "--tag",
                    "menu",
                ]
                    + device + testSite.keys
            ).succeeded()
            func name(_ file: String, _ content: String) -> String {
                isShared ? "\(file).png" : "\(file)@\(content.suffix(1))x.png"
            }
            let files = [
                name("sky", expected.0): expected.0, name("tree", expected.1): expected.1,
                name("boss", "boss 3"): "boss 3", "map": "map",
            ]
            // Offline.
            #expect(try await accessed() == files, "scale \(scale)")
            // The plan says the same, and its sizes are those of the device.
            let plan = try await Command.run(
                ["plan", testSite.vault, "--json"]
                    + (device.isEmpty ? ["--device", "scale=none"] : device)
            ).json()
            #expect(plan["devices"]?.elements?.count == 1)
            let size = files.values.reduce(0) { $0 + $1.utf8.count }
            #expect(plan["devices"]?.elements?[0]["essential"]?.number == Int64(size))
        }
    }

    /// A program sees the variant of the device that was stated last at the same path; what changes is all that is sent.
    @Test func theDeviceChanges() async throws {
        try declare(sharing: true)
        try await testSite.publish()
        try await fetch("--tag", "menu", "--device", "scale=1").succeeded()
        let server = try FaultServer(testSite.site)
        try await fetch("--tag", "menu", "--device", "scale=2", from: server.url).succeeded()
        #expect(try await accessed()["sky.png"] == "sky 2")
        #expect(try await accessed()["tree.png"] == "tree 3")
        // The sky and the tree: the boss and the map stay.
        #expect(Set(server.packs.map(\.request.path)).count == 2, "\(server.packs)")
        let purgeable = try await testSite.status().filter(\.value.isPurgeable).keys.sorted()
        #expect(purgeable == ["game/menu/scale-1"])
        try await fetch("--tag", "menu", "--device", "all").succeeded()
        #expect(try await accessed().count == 4)
    }

    @Test func channels() async throws {
        try declare(sharing: true) { $0["channels"] = ["beta", "live"] }
        try await testSite.publish()
        try await Command.run("promote", testSite.vault, "--from", "beta", "--to", "live", "--all")
            .succeeded()
        try folder.write("game/ui/boss@1x.png", "boss 1")
        try await testSite.publish()
        try await fetch("--tag", "menu", "--device", "scale=1").succeeded()
        #expect(try await accessed()["boss.png"] == "boss 3")
        try await fetch("--tag", "menu", "--channel", "beta").succeeded()
        #expect(try await accessed()["boss.png"] == "boss 1")
    }

    /// Packs that earlier releases published say nothing of devices: a client chooses among them as before.
    @Test func packsOfEarlierReleases() async throws {
        try declare(sharing: false)
        for file in ["boss@3x.png", "tree@1x.png", "tree@3x.png"] {
            try await Tool.run("rm", folder["game/ui/\(file)"])
        }
        try await testSite.publish()
        try await testSite.forgeTargets { signed in
            var targets = signed["targets"]?.members ?? [:]
            for (path, value) in targets {
                guard var record = value.members, var custom = record["custom"]?.members,
                    var vault = custom["assetvault"]?.members, vault["matching"] != nil
                else { continue }
                vault["matching"] = ["scale": ["match": "nearest"]]
                custom["assetvault"] = .object(vault)
                record["custom"] = .object(custom)
                targets[path] = .object(record)
            }
            signed["targets"] = .object(targets)
        }
        for scale in 1...3 {
            try await fetch("--tag", "menu", "--device", "scale=\(scale)").succeeded()
            #expect(try await accessed() == ["map": "map", "sky@\(scale)x.png": "sky \(scale)"])
        }
    }

    /// A rule whose files are variants of nothing is probably mistaken.
    @Test func rulesWithoutVariants() async throws {
        try folder.write("game/high/rock", "a large rock")
        try folder.write("game/low/rock", "a rock")
        try declare(sharing: true)
        try testSite.settings { settings in
            var tree = settings["resources"]?["game"]?.members ?? [:]
            tree["rules"] = .array(
                (tree["rules"]?.elements ?? []) + [
                    ["paths": ["high/*", "low/*"], "tags": ["rocks"]],
                    ["paths": "high/*", "traits": ["scale": 3]], ["paths": "low/*", "traits": ["scale": 1]],
                ])
            settings["resources"] = ["game": .object(tree)]
        }
        let plan = try await Command.run("plan", testSite.vault).succeeded()
        let lines = plan.errorText.split(separator: "\n").filter {
            $0.contains("is a variant of another one")
        }
        #expect(lines.count == 2, "\(plan.errorText)")
        #expect(lines.allSatisfy { $0.contains("of 'game'") && $0.contains(#"say by "as""#) }, "\(lines)")
    }
}
