import Testing
import VaultBase

/// Requests by tag where only a newer release can read one of the packs: they are not answered in part.
@Suite(.timeLimit(.minutes(5))) struct LaterFormatTests {
    private let world: World

    init() async throws { world = try await World() }

    private func publish(bins: Int64? = nil) async throws {
        for name in ["level", "music", "voice"] { try world.write("\(name)/file-\(name)", name) }
        try world.declare([
            "level": ["tags": ["game"]], "music": ["tags": ["game", "sound"]], "voice": ["tags": ["speech"]],
        ]) { $0["bins"] = bins.map { .integer($0) } }
        try await world.publish()
    }

    private static func makeLater(_ signed: inout JSONObject, withoutTags: Bool = false) throws {
        guard signed["targets"]?["packs/music.avpack"] != nil else { return }
        try signed.changePack("music") {
            $0["format"] = 99
            if withoutTags { $0["tags"] = nil }
        }
    }

    /// Changes what each of two bins lists.
    private func forgeBins(_ change: (inout JSONObject) throws -> Void) async throws {
        for (bin, version) in [("packs-0", 10), ("packs-1", 11)] as [(String, Int64)] {
            let forged = try await world.forge(bin, key: "targets", change)
            try await world.raise(["snapshot", "timestamp"], to: version, listing: [bin: forged])
        }
    }

    private func access(_ tag: String, isOnline: Bool = true) async throws -> CommandResult {
        try await world.access(tag, script: "ls \"$ASSETVAULT_RESOURCES\"", isOnline: isOnline)
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
                try await access(tag), try await world.fetch("--tag \(tag)"),
                try await world.fetch("--tag \(tag) --dry-run"),
            ] {
                expectFailure(result, 65, "assetvault: packs/music.avpack: it has a requested tag")
                expectFailure(result, 65, "use a newer release of this program")
            }
        }
    }

    @Test func aTagThatTheRecordStates() async throws {
        try await publish()
        var readable: JSONValue?
        try await world.forgeTargets {
            readable = $0["targets"]
            try Self.makeLater(&$0)
        }
        try await expectRefusals(of: ["game", "sound"])
        // Offline as well; the packs of other tags are there.
        try await world.fetch("--all").succeeded()
        try await access("game", isOnline: false).failed(65, naming: "use a newer release")
        for isOnline in [true, false] {
            let other = try await access("speech", isOnline: isOnline)
            #expect(other.text == "file-voice\n", "\(other.errorText)")
        }
        // A site that lists it as this release can read it ends that, without a fetch.
        try await world.forgeTargets { $0["targets"] = readable }
        let result = try await access("game")
        #expect(result.text == "file-level\nfile-music\n", "\(result.errorText)")
    }

    /// Where the tags can't be read, the pack is named by what does not choose by tags.
    @Test func tagsOfALaterFormat() async throws {
        try await publish()
        try await world.forgeTargets { try Self.makeLater(&$0, withoutTags: true) }
        let result = try await access("game")
        #expect(result.text == "file-level\n")
        for text in [
            result.errorText, try await world.fetch("--tag game").succeeded().errorText,
            try await world.run("list $SITE").succeeded().errorText,
        ] {
            #expect(text.contains("packs/music.avpack: pack format version 99"), "\(text)")
        }
    }

    /// The index of tags names the pack, whether or not its record can be read.
    @Test(arguments: [false, true]) func aTagOfTheIndex(withoutTags: Bool) async throws {
        try await publish(bins: 2)
        try await forgeBins { try Self.makeLater(&$0, withoutTags: withoutTags) }
        try await expectRefusals(of: ["game", "sound"])
        #expect(try await access("speech").text == "file-voice\n")
        try await access("game", isOnline: false).failed(65, naming: "use a newer release")
    }

    /// An index that names a pack which nobody lists: the site is not what its owner meant.
    @Test func anIndexedPackThatIsNotListed() async throws {
        try await publish(bins: 2)
        try await forgeBins { try $0.change("targets") { $0["packs/music.avpack"] = nil } }
        expectFailure(try await world.fetch("--tag game"), 76, "packs/music.avpack")
        try await access("game", isOnline: false).failed(66, naming: "not all packs")
    }
}
