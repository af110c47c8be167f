import Foundation
import StrictJSON
import Testing

/// What `plan` says before anything is sealed.
@Suite(.timeLimit(.minutes(5))) struct ContentPlanTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    init() async throws { testSite = try await TestSite() }

    /// A tree of sparse files: the size in bytes, the tags and the traits of each. Those with traits and the same tags are variants of one
    /// file.
    private func declare(
        _ files: [(size: UInt64, tags: [String], traits: JSONObject)], initial: [String] = [],
        prefetch: [String] = [], limits: JSONValue? = nil
    ) throws {
        var rules: [JSONValue] = []
        for (number, file) in files.enumerated() {
            try folder.write("game/\(number)", "")
            let handle = try #require(FileHandle(forWritingAtPath: folder["game/\(number)"]))
            try handle.truncate(atOffset: file.size)
            try handle.close()
            guard !file.tags.isEmpty else { continue }
            var rule: JSONObject = [
                "paths": .string("\(number)"), "tags": .array(file.tags.map(JSONValue.string)),
            ]
            if !file.traits.isEmpty {
                rule["traits"] = .object(file.traits)
                rule["as"] = .string("file-\(file.tags.joined(separator: "-"))")
            }
            rules.append(.object(rule))
        }
        let tree: JSONObject = [
            "source": .string(folder["game"]), "rules": .array(rules),
            "traits": ["scale": ["match": "nearest"]],
            "initial": .array(initial.map(JSONValue.string)),
            "prefetch": .array(prefetch.map(JSONValue.string)),
        ]
        try testSite.settings {
            $0["resources"] = ["game": .object(tree)]
            $0["limits"] = limits
        }
    }

    private func plan(_ arguments: String...) async throws -> CommandResult {
        try await Command.run(["plan", testSite.vault, "--json"] + arguments)
    }

    private static let million: UInt64 = 1_000_000

    /// Sizes in megabytes that just reach one limit.
    struct Reached: Sendable, CustomTestStringConvertible {
        let preset: String
        let megabytes: [UInt64]
        var initial = 0
        var prefetched = 0
        let problem: String
        var isWarning = false
        /// Whether another limit is exceeded already.
        var isBeyond = false
        /// Whether all have one tag.
        var isOneTag = false

        var testDescription: String { "\(preset): \(problem)" }
    }

    @Test(arguments: [
        Reached(preset: "odr-2015", megabytes: [512], problem: "the pack 'game/t0' has"),
        Reached(preset: "odr-2015", megabytes: [64], problem: "the tag 't0' has", isWarning: true),
        Reached(preset: "odr-2015", megabytes: [256, 256], problem: "the tag 't0' has", isOneTag: true),
        Reached(
            preset: "odr-2015", megabytes: [500, 500, 500, 500],
            problem: "the tag 't0' has, in use at a time,", isBeyond: true, isOneTag: true),
        Reached(
            preset: "odr-2015", megabytes: [500, 500, 500, 500], initial: 4,
            problem: "the app with its essential packs has"),
        Reached(
            preset: "odr-2015", megabytes: [50, 50], initial: 2,
            problem: "an installation over a mobile network has", isWarning: true),
        Reached(preset: "odr-2015-tvos", megabytes: [512], problem: "the pack 'game/t0' has"),
        Reached(preset: "odr-2015-tvos", megabytes: [64], problem: "the tag 't0' has", isWarning: true),
        Reached(preset: "odr-2015-tvos", megabytes: [256, 256], problem: "the tag 't0' has", isOneTag: true),
        Reached(
            preset: "odr-2015-tvos", megabytes: [200], initial: 1,
            problem: "the app with its essential packs has"),
        Reached(
            preset: "odr-2015-tvos", megabytes: [500, 500, 500, 500], initial: 4,
            problem: "essential packs have", isBeyond: true),
        Reached(
            preset: "odr-2015-tvos", megabytes: [200, 500, 500, 500, 300], initial: 1, prefetched: 4,
            problem: "essential and prefetched packs have"),
        Reached(
            preset: "odr-2015-tvos", megabytes: [500, 500, 500, 500],
            problem: "the tag 't0' has, in use at a time,", isBeyond: true, isOneTag: true),
        Reached(
            preset: "odr-2015-tvos", megabytes: Array(repeating: 400, count: 50), problem: "all packs have"),
        Reached(
            preset: "odr-2015", megabytes: [500, 500, 500, 500], initial: 4, problem: "essential packs have"),
        Reached(
            preset: "odr-2015", megabytes: [500, 500, 500, 500], initial: 1, prefetched: 3,
            problem: "essential and prefetched packs have"),
        Reached(preset: "odr-2015", megabytes: Array(repeating: 400, count: 50), problem: "all packs have"),
        Reached(preset: "apple-2024", megabytes: [8000], problem: "the pack 'game/t0' has"),
        Reached(preset: "apple-2024", megabytes: [64], problem: "the tag 't0' has", isWarning: true),
        Reached(
            preset: "apple-2024", megabytes: Array(repeating: 7000, count: 10), problem: "all packs have"),
    ])
    func aLimitIsPassedByOneByte(reached: Reached) async throws {
        // With one tag each has another second one, or they would be one pack.
        let tags = reached.megabytes.indices.map { "t\($0)" }
        for excess in [UInt64(0), 1] {
            try declare(
                reached.megabytes.enumerated().map { number, size in
                    (
                        size * Self.million + (number == 0 ? excess : 0),
                        reached.isOneTag && number > 0 ? ["t0", tags[number]] : [tags[number]], [:]
                    )
                }, initial: Array(tags.prefix(reached.initial)),
                prefetch: Array(tags.dropFirst(reached.initial).prefix(reached.prefetched)))
            let result = try await plan("--limits", reached.preset)
            let findings = try #require(try result.json()["findings"]?.elements)
            let problems = findings.compactMap { $0["problem"]?.text }
            #expect(findings.allSatisfy { $0["remedy"]?.text?.isEmpty == false })
            #expect(
                problems.contains { $0.hasPrefix(reached.problem) && $0.contains(" 1 more than ") }
                    == (excess == 1),
                "\(problems)")
            let isRefused = reached.isBeyond || excess == 1 && !reached.isWarning
            #expect(result.exitCode == (isRefused ? 78 : 0), "\(result.errorText)")
        }
        #expect(try await plan("--limits", "none").exitCode == 0)
    }

    @Test func theNumberOfPacks() async throws {
        try folder.write("one/file", "content")
        for (count, isRefused) in [(1000, false), (1001, true)] {
            try testSite.settings {
                $0["packs"] = .object(
                    JSONObject(lastWins: (0..<count).map { ("p\($0)", ["source": .string(folder["one"])]) }))
            }
            for preset in ["odr-2015", "odr-2015-tvos", "apple-2024"] {
                let result = try await plan("--limits", preset)
                #expect(result.exitCode == (isRefused ? 78 : 0), "\(preset): \(result.errorText)")
            }
        }
    }

    /// Limits count what one device gets, and all variants only where they are hosted.
    @Test func onlyOneVariantCounts() async throws {
        let files = (1...3).map {
            (UInt64($0) * 1000, ["menu"], ["scale": .integer(Int64($0))] as JSONObject)
        }
        try declare(
            files, initial: ["menu"], limits: ["initial": 3000, "hosted": 6000, "tag": 3000, "inUse": 3000])
        let answer = try await plan().succeeded().json()
        #expect(answer["devices"]?.elements?.compactMap { $0["essential"]?.number } == [1000, 2000, 3000])
        #expect(answer["findings"]?.elements == [])
        let device = try await plan("--device", "scale=2").succeeded().json()
        #expect(device["devices"]?.elements?.first?["packs"]?.elements == ["game/menu/scale-2"])
        for limit in ["initial", "tag", "inUse", "app", "meteredInstall"] {
            try declare(files, initial: ["menu"], limits: .object(JSONObject(lastWins: [(limit, 2999)])))
            let all = try await plan()
            #expect(all.exitCode == (limit == "meteredInstall" ? 0 : 78))
            #expect(try all.json()["findings"]?.elements?.count == 1)
            #expect(try await plan("--device", "scale=2").exitCode == 0)
        }
        try declare(files, initial: ["menu"], limits: ["hosted": 5999])
        #expect(try await plan("--device", "scale=2").exitCode == 78)
    }

    /// Scripts and web pages pass.
    @Test func nativeExecutablesAreNamed() async throws {
        let zeros = [UInt8](repeating: 0, count: 200)
        var windows = zeros
        windows.replaceSubrange(0..<2, with: Array("MZ".utf8))
        windows[0x3C] = 100
        windows.replaceSubrange(100..<104, with: Array("PE\0\0".utf8))
        let files: [(String, [UInt8])] = [
            ("elf", [0x7F, 0x45, 0x4C, 0x46] + zeros), ("mach-o", [0xCF, 0xFA, 0xED, 0xFE] + zeros),
            ("fat", [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 2] + zeros),
            ("fat-64", [0xCA, 0xFE, 0xBA, 0xBF, 0, 0, 0, 2] + zeros), ("windows", windows),
            ("java", [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61] + zeros),
            ("script", Array("#!/bin/sh\n".utf8) + zeros),
            ("page", Array("<!DOCTYPE html><script></script>".utf8) + zeros),
            ("text", Array("MZ".utf8) + zeros),
            ("short", [0x7F, 0x45, 0x4C, 0x46]),
        ]
        for (name, bytes) in files { try folder.write("source/\(name)", bytes) }
        try testSite.settings { $0["packs"] = ["tools": ["source": .string(folder["source"])]] }
        let answer = try await plan().succeeded().json()
        let problems = try #require(answer["findings"]?.elements).compactMap { $0["problem"]?.text }
        let named = files.map(\.0).filter { name in problems.contains { $0.hasPrefix("'\(name)'") } }
        #expect(named == ["elf", "mach-o", "fat", "fat-64", "windows"], "\(problems)")
    }

    /// Nothing is written, and sizes of what is published are known.
    @Test func planWritesNothing() async throws {
        try declare([(1000, ["a"], [:]), (2000, [], [:])])
        let before = try Tree(testSite.vault)
        let first = try await plan().succeeded().json()
        #expect(try Tree(testSite.vault) == before)
        #expect(first["untagged"] == ["game": ["1"]])
        #expect(first["packs"]?.elements?.first?["sealedLength"] == nil)
        try await testSite.publish()
        let second = try await plan().succeeded().json()
        let length = try folder.bytes("vault/site/\(testSite.publishedPack("game/a"))").count
        #expect(second["packs"]?.elements?.first?["sealedLength"]?.number == Int64(length))
    }

    /// What was restored is listed whatever the sources are, and the plan says so.
    @Test func restoredVersions() async throws {
        try declare([(1000, ["a"], [:])])
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        func plan() async throws -> (CommandResult, [JSONValue]) {
            let text = try await Command.run("plan", testSite.vault).succeeded()
            let json = try await self.plan().succeeded().json()
            return (
                text,
                try #require(json["packs"]?.elements).sorted { $0["id"]?.text ?? "" < $1["id"]?.text ?? "" }
            )
        }
        let before = try await plan()
        #expect(!before.0.text.contains("restored") && !before.0.errorText.contains("restored"))
        #expect(before.1.allSatisfy { $0["pinnedVersion"] == nil && $0["pinnedSnapshot"] == nil })
        try await Command.run("restore", testSite.vault, "level", "--version", "1").succeeded()
        try await Command.run("restore", testSite.vault, "game", "--version", "1").succeeded()
        let (text, packs) = try await plan()
        #expect(text.text.contains("as version 1, restored to version 1"), "\(text.text)")
        #expect(text.text.contains("restored to what snapshot version 1, published at "), "\(text.text)")
        #expect(text.errorText.contains("2 packs are held at what was restored"), "\(text.errorText)")
        #expect(packs.map { $0["pinnedVersion"] } == [nil, 1])
        #expect(packs.map { $0["pinnedSnapshot"] } == [1, nil])
        for id in ["level", "game"] {
            try await Command.run("restore", testSite.vault, id, "--latest").succeeded()
        }
        try await Command.run("restore", testSite.vault, "--channel", "live", "--to", "1").succeeded()
        #expect(try await plan().1.allSatisfy { $0["pinnedSnapshot"] == 1 })
    }

    /// Tags and traits of each pack, and sealed sizes of what is published as a whole.
    @Test func theText() async throws {
        try declare([(1000, ["a", "b"], ["scale": 1]), (3000, ["a", "b"], ["scale": 2]), (500, ["b"], [:])])
        let before = try await Command.run("plan", testSite.vault).succeeded()
        #expect(before.text.contains("opened 1000 bytes, not published  tags: a, b  traits: scale=1\n"))
        #expect(before.text.contains("opened 500 bytes, not published  tags: b\n"), "\(before.text)")
        #expect(!before.text.contains("sealed"))
        try await testSite.publish()
        func length(_ id: String) throws -> Int {
            try folder.bytes("vault/site/\(testSite.publishedPack(id))").count
        }
        let (large, plain) = (try length("game/a.b/scale-2"), try length("game/b"))
        let small = try length("game/a.b/scale-1")
        let after = try await Command.run("plan", testSite.vault).succeeded().text
        #expect(after.contains("tag a: at most 3000 bytes on a device, sealed \(max(small, large))\n"))
        #expect(
            after.contains("tag b: at most 3500 bytes on a device, sealed \(max(small, large) + plain)\n"))
        #expect(after.contains("on demand 1500 bytes; all sealed \(small + plain) bytes\n"), "\(after)")
        try declare([(1000, ["a", "b"], ["scale": 1]), (3000, ["a", "b"], ["scale": 2]), (500, ["c"], [:])])
        let answer = try await plan().json()
        let tags = try #require(answer["tags"]?.elements)
        #expect(
            tags.map { $0["sealedLength"]?.number } == [
                Int64(max(small, large)), Int64(max(small, large)), nil,
            ])
        #expect(answer["devices"]?.elements?.allSatisfy { $0["sealedLength"] == nil } == true)
    }

    @Test func aRuleThatMatchesNothing() async throws {
        try declare([(1000, ["a"], [:]), (2000, ["b"], [:])])
        try await Tool.run("rm", folder["game/1"])
        let plan = try await Command.run("plan", testSite.vault).succeeded()
        #expect(plan.errorText.contains("no file matches the rule at"), "\(plan.errorText)")
        #expect(plan.errorText.contains("vault.json:"), "\(plan.errorText)")
    }

    @Test func anUnknownWayToMatch() async throws {
        try folder.write("game/file", "content")
        try testSite.settings {
            $0["resources"] = [
                "game": ["source": .string(folder["game"]), "traits": ["scale": ["match": "nearst"]]]
            ]
        }
        try await Command.run("plan", testSite.vault).failed(64, naming: "did you mean 'nearest'")
    }

    private func problems(_ arguments: String...) async throws -> [String] {
        let answer = try await Command.run(["plan", testSite.vault, "--json"] + arguments).json()
        return try #require(answer["findings"]?.elements).compactMap { $0["problem"]?.text }
    }

    @Test func aFallbackThatNoFileHas() async throws {
        try folder.write("game/hello", "hello")
        func declare(_ fallback: JSONValue) throws {
            try testSite.settings {
                $0["resources"] = [
                    "game": [
                        "source": .string(folder["game"]),
                        "traits": ["language": ["match": "language", "fallback": fallback]],
                        "rules": [["paths": "hello", "tags": ["a"], "traits": ["language": "en-GB"]]],
                    ]
                ]
            }
        }
        try declare(["en"])
        #expect(try await problems() == [])
        try declare(["em-GB", "fr"])
        let plan = try await Command.run("plan", testSite.vault).succeeded()
        #expect(
            plan.errorText.contains(
                "no file has the fallback 'em-GB' of the trait 'language'; did you mean 'en-GB'?"))
        #expect(plan.errorText.contains("no file has the fallback 'fr'"), "\(plan.errorText)")
    }

    /// Limits that were not held against all devices say so.
    @Test func moreDevicesThanAreListed() async throws {
        func declare(_ count: Int64) throws {
            try folder.write("game/0", "")
            var rules: [JSONValue] = []
            for number in 1...count {
                for trait in ["scale", "size"] {
                    try folder.write("game/\(trait)-\(number)", "a")
                    rules.append([
                        "paths": .string("\(trait)-\(number)"), "tags": [.string(trait)],
                        "traits": .object(JSONObject(lastWins: [(trait, .integer(number))])),
                    ])
                }
            }
            try testSite.settings {
                $0["resources"] = [
                    "game": .object([
                        "source": .string(folder["game"]), "rules": .array(rules), "exclude": ["0"],
                        "traits": ["scale": ["match": "nearest"], "size": ["match": "nearest"]],
                    ])
                ]
            }
        }
        try declare(16)
        #expect(try await problems() == [])
        try declare(17)
        #expect(try await problems() == ["limits were held against 256 of 289 devices"])
        #expect(try await problems("--device", "scale=2") == [])
    }
}
