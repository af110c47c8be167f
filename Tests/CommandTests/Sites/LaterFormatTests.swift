import StrictJSON
import Testing

/// Requests by tag where only a newer release can read one of the packs: they are not answered in part.
@Suite(.timeLimit(.minutes(5))) struct LaterFormatTests {
    private let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    init() async throws { testSite = try await TestSite() }

    private func publish(bins: Int64? = nil) async throws {
        var packs = JSONObject()
        for (name, tags) in [("level", ["game"]), ("music", ["game", "sound"]), ("voice", ["speech"])] {
            try folder.write("\(name)/file-\(name)", name)
            packs[name] = .object([
                "source": .string(folder[name]), "tags": .array(tags.map(JSONValue.string)),
            ])
        }
        try testSite.settings {
            $0["packs"] = .object(packs)
            $0["bins"] = bins.map { .integer($0) }
        }
        try await testSite.publish()
    }

    private static func makeLater(_ signed: inout JSONObject, withoutTags: Bool = false) throws {
        var targets = signed["targets"]?.members ?? [:]
        guard var record = targets["packs/music.avpack"]?.members else { return }
        var custom = try #require(record["custom"]?.members)
        var vault = try #require(custom["assetvault"]?.members)
        vault["format"] = 99
        if withoutTags { vault["tags"] = nil }
        custom["assetvault"] = .object(vault)
        record["custom"] = .object(custom)
        targets["packs/music.avpack"] = .object(record)
        signed["targets"] = .object(targets)
    }

    private func access(_ tag: String, isOnline: Bool = true) async throws -> CommandResult {
        try await Command.run(
            ["access", tag, "--store", testSite.store] + testSite.keys
                + (isOnline ? ["--site", testSite.site, "--trust", testSite.root] : [])
                + ["--", "sh", "-c", "ls \"$ASSETVAULT_RESOURCES\""])
    }

    private func expectFailure(
        _ result: CommandResult, _ exitCode: Int32, _ part: String,
        at location: SourceLocation = #_sourceLocation
    ) {
        let text = result.errorText
        #expect(result.exitCode == exitCode && text.contains(part), "\(text)", sourceLocation: location)
    }

    private func expectRefusals(of tags: [String]) async throws {
        for tag in tags {
            for result in [
                try await access(tag), try await testSite.fetch(nil, "--tag", tag),
                try await testSite.fetch(nil, "--tag", tag, "--dry-run"),
            ] {
                expectFailure(result, 65, "assetvault: packs/music.avpack: it has a requested tag")
                expectFailure(result, 65, "use a newer release of this program")
            }
        }
    }

    @Test func aTagThatTheRecordStates() async throws {
        try await publish()
        var readable: JSONValue?
        try await testSite.forgeTargets {
            readable = $0["targets"]
            try Self.makeLater(&$0)
        }
        try await expectRefusals(of: ["game", "sound"])
        // Offline as well; the packs of other tags are there.
        try await testSite.fetch(nil, "--all").succeeded()
        try await access("game", isOnline: false).failed(65, naming: "use a newer release")
        for isOnline in [true, false] {
            let other = try await access("speech", isOnline: isOnline)
            #expect(other.text == "file-voice\n", "\(other.errorText)")
        }
        // A site that lists it as this release can read it ends that, without a fetch.
        try await testSite.forgeTargets { $0["targets"] = readable }
        let result = try await access("game")
        #expect(result.text == "file-level\nfile-music\n", "\(result.errorText)")
    }

    /// Where the tags can't be read, the pack is named by what does not choose by tags.
    @Test func tagsOfALaterFormat() async throws {
        try await publish()
        try await testSite.forgeTargets { try Self.makeLater(&$0, withoutTags: true) }
        let result = try await access("game")
        #expect(result.text == "file-level\n")
        for text in [
            result.errorText, try await testSite.fetch(nil, "--tag", "game").succeeded().errorText,
            try await Command.run("list", testSite.site).succeeded().errorText,
        ] {
            #expect(text.contains("packs/music.avpack: pack format version 99"), "\(text)")
        }
    }

    /// The index of tags names the pack, whether or not its record can be read.
    @Test(arguments: [false, true]) func aTagOfTheIndex(withoutTags: Bool) async throws {
        try await publish(bins: 2)
        for bin in ["packs-0", "packs-1"] {
            let version = try await testSite.forge(bin, key: "targets") {
                try Self.makeLater(&$0, withoutTags: withoutTags)
            }
            try await testSite.raise(
                ["snapshot", "timestamp"], to: bin == "packs-0" ? 10 : 11, listing: [bin: version])
        }
        try await expectRefusals(of: ["game", "sound"])
        #expect(try await access("speech").text == "file-voice\n")
        try await access("game", isOnline: false).failed(65, naming: "use a newer release")
    }

    /// An index that names a pack which nobody lists: the site is not what its owner meant.
    @Test func anIndexedPackThatIsNotListed() async throws {
        try await publish(bins: 2)
        for bin in ["packs-0", "packs-1"] {
            let version = try await testSite.forge(bin, key: "targets") { signed in
                var targets = signed["targets"]?.members ?? [:]
                targets["packs/music.avpack"] = nil
                signed["targets"] = .object(targets)
            }
            try await testSite.raise(
                ["snapshot", "timestamp"], to: bin == "packs-0" ? 10 : 11, listing: [bin: version])
        }
        expectFailure(try await testSite.fetch(nil, "--tag", "game"), 76, "packs/music.avpack")
        try await access("game", isOnline: false).failed(66, naming: "not all packs")
    }
}
