import Foundation
import StrictJSON
import Testing

/// A command without work to do says why.
struct NothingToDoTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite(publishing: ["one", "two"])
        folder = testSite.folder
    }

    @Test func allPacksWereRemoved() async throws {
        try await testSite.fetch().succeeded()
        try await Command.run("remove", "one", "two", "--store", testSite.store).succeeded()
        let fetched = try await testSite.fetch().succeeded()
        for part in ["nothing to fetch", "one, two", "--all", testSite.store, "file:"] {
            #expect(fetched.errorText.contains(part), "\(fetched.errorText)")
        }
        // The hint can be pasted.
        let hint = try #require(fetched.errorText.components(separatedBy: ": assetvault ").last)
        let line = "'\(try Command.path)' \(hint)"
        _ = try await Tool.run("/bin/sh", "-ec", line).succeeded()
        #expect(try await testSite.status().values.allSatisfy { $0.state == "loaded" })
    }

    /// An empty channel is no reason to fetch all of it.
    @Test func anEmptyChannel() async throws {
        let site = try await TestSite()
        try site.settings { $0["channels"] = ["beta", "live"] }
        try site.folder.write("one/file", "one")
        try await site.publish("--pack", "one=\(site.folder["one"])")
        let fetched = try await site.fetch().succeeded()
        #expect(
            fetched.errorText.contains("the channel lists no pack; those that do: beta: assetvault fetch"))
        #expect(!fetched.errorText.contains("--all"), "\(fetched.errorText)")
        let hint = try #require(fetched.errorText.components(separatedBy: ": assetvault ").last)
        _ = try await Tool.run("/bin/sh", "-ec", "'\(try Command.path)' \(hint)").succeeded()
        #expect(try await site.status()["one"]?.state == "loaded")
    }

    /// A mistyped key file is reported also where no pack needs a key.
    @Test func aMissingKeyFile() async throws {
        try await testSite.fetch().succeeded()
        let result = try await Command.run(
            "fetch", testSite.site, "--store", testSite.store, "--keys", "file:\(folder["nokey"])"
        ).succeeded()
        #expect(result.errorText.contains("warning: --keys: \(folder["nokey"]) does not exist"))
        #expect(result.errorText.contains("up to date  one"))
    }

    @Test func onlyOnDemandPacks() async throws {
        try testSite.settings { settings in
            var packs = settings["packs"]?.members ?? [:]
            for id in ["one", "two"] {
                var pack = packs[id]?.members ?? [:]
                pack["policy"] = "onDemand"
                packs[id] = .object(pack)
            }
            settings["packs"] = .object(packs)
        }
        try await testSite.publish()
        let fetched = try await testSite.fetch().succeeded()
        #expect(fetched.errorText.contains("no essential or prefetch pack"), "\(fetched.errorText)")
        let again = try await Command.run(
            "downloader", testSite.site, "--store", testSite.store, "--request", "periodic"
        ).succeeded()
        #expect(again.errorText.contains("nothing was to be downloaded"), "\(again.errorText)")
    }

    @Test func noStore() async throws {
        for arguments in [[], ["--json"]] {
            try await Command.run(["status", "--store", folder["nowhere"]] + arguments)
                .failed(66, naming: "no store is there", "nowhere")
        }
        #expect(try !folder.exists("nowhere"))
    }

    /// What a site keeps of earlier publications, and for how long.
    @Test func nothingToPrune() async throws {
        let untouched = try await Command.run("prune", testSite.vault).succeeded()
        #expect(untouched.errorText.contains("every other file is part of what is published now"))
        try folder.write("one/file", "second")
        try await testSite.publish()
        let text = try await Command.run("prune", testSite.vault, "--keep", "1", "--grace", "0d").succeeded()
        #expect(text.text.isEmpty && text.errorText.contains("removed 0 files"), "\(text.errorText)")
        let snapshot: JSONValue = try folder.json("vault/site/metadata/1.snapshot.json")
        let expires = try #require(snapshot["signed", "expires"]?.text)
        #expect(
            text.errorText.contains("kept by 1.snapshot.json until \(expires): 3 files"), "\(text.errorText)")
        let json = try await Command.run("prune", testSite.vault, "--json").succeeded().json()
        let kept = try #require(json["kept"]?.elements)
        #expect(kept.contains { $0["reason"]?.text == "kept for restore" }, "\(kept)")
        #expect(json["removed"] == [])
    }

    /// Also the findings of an audit are reported once, on standard error.
    @Test func eachErrorIsReportedOnce() async throws {
        for id in ["one", "two"] {
            try folder.write("vault/site/\(testSite.publishedPack(id))", "not the pack")
        }
        let result = try await Command.run("audit", testSite.site, "--trust", testSite.root)
        #expect(result.exitCode == 65)
        let errors = result.errorText.split(separator: "\n")
        #expect(Set(errors).count == errors.count && errors.count >= 2, "\(result.errorText)")
        #expect(errors.allSatisfy { $0.hasPrefix("assetvault: ") })
        for error in errors { #expect(!result.text.contains(error.dropFirst("assetvault: ".count))) }
        #expect(result.text.contains("BAD") && result.text.hasSuffix(" problems\n"), "\(result.text)")
    }
}
