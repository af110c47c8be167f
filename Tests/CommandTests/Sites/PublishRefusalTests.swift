import Foundation
import Testing

/// Invalid publications, which leave the site unchanged.
struct PublishRefusalTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try folder.write("level/file", "version 2")
    }

    private func refuses(
        _ code: Int32, naming part: String, _ arguments: String...,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try Tree(testSite.site)
        try await Command.run(["publish", testSite.vault] + arguments).failed(
            code, naming: part, at: location)
        #expect(try Tree(testSite.site) == before, sourceLocation: location)
    }

    @Test func noVault() async throws {
        try await Command.run("publish", folder["level"]).failed(
            66, naming: folder["level"], "assetvault init")
    }

    @Test func aMissingSource() async throws {
        let settings = try folder.bytes("vault/vault.json")
        try await refuses(66, naming: "nowhere", "--pack", "other=\(folder["nowhere"])")
        // An invalid declaration is not saved: the next publication works.
        #expect(try folder.bytes("vault/vault.json") == settings)
        try await testSite.publish()
    }

    /// The error names the option, not the settings.
    @Test func anOptionErrorNamesTheOption() async throws {
        let missing = "other=\(folder["nowhere"])"
        try await refuses(66, naming: "--pack \(missing): there is no such file or folder", "--pack", missing)
        let named = "Other=\(folder["level"])"
        try await refuses(64, naming: "--pack \(named): 'Other' can't be a pack's ID", "--pack", named)
        try folder.write("my level/file", "1")
        try await Command.run(
            ["seal", folder["my level"], "-o", folder["x.avpack"]] + testSite.keys
        ).failed(64, naming: "'my level' can't be a pack's ID", "--id ID")
    }

    @Test func aSourceWithLinks() async throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder["level/link"], withDestinationPath: "file")
        try await refuses(65, naming: "link")
    }

    @Test(arguments: ["level", "level=", "=source"]) func anInvalidDeclaration(text: String) async throws {
        try await refuses(64, naming: "", "--pack", text)
    }

    @Test(arguments: [
        ("{", 65), (#"{"format": 2, "packs": {}}"#, 65), (#"{"packs": {}}"#, 65),
        (#"{"format": 1, "packs": {"Upper": {"source": "x"}}}"#, 64),
        (#"{"format": 1, "packs": {"level": {}}}"#, 65),
        (#"{"format": 1, "packs": {"level": {"source": "../level", "policy": "sometimes"}}}"#, 64),
        (#"{"format": 1, "packs": {"level": {"source": "../level", "include": [""]}}}"#, 64),
        (#"{"format": 1, "packs": {"level": {"source": "../level"}, "level": {"source": "x"}}}"#, 65),
        (#"{"format": 1, "expiry": {"timestamp": 0}, "packs": {}}"#, 64),
        (#"{"format": 1, "packs": {"level": {"source": "../level", "excludes": ["*.psd"]}}}"#, 64),
        (#"{"format": 1, "packs": {"level": {"source": "../level", "Policy": "onDemand"}}}"#, 64),
    ]) func invalidSettings(text: String, code: Int32) async throws {
        try folder.write("vault/vault.json", text)
        try await refuses(code, naming: "")
    }

    /// A misspelt member is named, with the known ones.
    @Test func anUnknownMember() async throws {
        try folder.write(
            "vault/vault.json", #"{"format": 1, "packs": {"level": {"source": "../level", "excludes": []}}}"#)
        try await Command.run("publish", testSite.vault).failed(
            64, naming: "vault.json:1:57: level: ", "\"excludes\"", "include, exclude, policy, tags, traits")
    }

    /// Tags and traits are checked before signing; the pack and the member are named.
    @Test(arguments: [
        (#""tags": [""]"#, "\"tags\""), (#""tags": ["a", "b", "a"]"#, "'a' twice"),
        (#""tags": ["a\u001bb"]"#, "\"tags\""), (#""tags": [1]"#, ""),
        (#""traits": {"language": {"ui": "de"}}"#, "'language'"),
        (#""traits": {"languages": ["de"]}"#, "'languages'"),
        (#""traits": {"": "de"}"#, "\"traits\""), (#""traits": {"language": null}"#, "'language'"),
    ]) func invalidTagsAndTraits(member: String, naming: String) async throws {
        try folder.write(
            "vault/vault.json", #"{"format": 1, "packs": {"level": {"source": "../level", \#(member)}}}"#)
        let code: Int32 = naming.isEmpty ? 65 : 64
        try await refuses(code, naming: naming)
        try await refuses(code, naming: "vault.json:1:")
        try await refuses(code, naming: ": level: ")
    }

    /// Patterns that exclude all files are an error; the packs before them are not published either.
    @Test(arguments: [
        #""include": ["*.psd"]"#, #""exclude": ["**"]"#, #""include": ["file"], "exclude": ["fi*"]"#,
    ]) func patternsThatExcludeAllFiles(patterns: String) async throws {
        try await Tool.run("tar", "cf", folder["level.tar"], "-C", folder["level"], ".")
        for source in ["../level", "../level.tar"] {
            try folder.write(
                "vault/vault.json",
                #"{"format": 1, "packs": {"level": {"source": "\#(source)", \#(patterns)}}}"#)
            try await refuses(64, naming: "'level'")
        }
    }

    /// Slots and earlier packs are read from verified metadata only.
    @Test func aTamperedSite() async throws {
        let timestamp = try folder.bytes("vault/site/metadata/timestamp.json")
        try folder.write(
            "vault/site/metadata/timestamp.json", timestamp.dropLast(9) + Array("\"00\"}]}".utf8))
        try await refuses(76, naming: "timestamp")
        try folder.write("vault/site/metadata/timestamp.json", timestamp)
        var pack = try folder.bytes("vault/site/\(testSite.publishedPack("level"))")
        pack[pack.count / 2] ^= 1
        try folder.write("vault/site/\(testSite.publishedPack("level"))", pack)
        try await refuses(65, naming: "damaged")
    }

    /// Packs are sealed for every vault key that is given, and any one of them opens.
    @Test func severalVaultKeys() async throws {
        try await Command.run("keygen", "-o", folder["second.jwks"]).succeeded()
        try await testSite.publish(
            "--keys", "file:\(folder["vault/keys/vault.jwks"])", "--keys", "file:\(folder["second.jwks"])")
        try await testSite.fetch().succeeded()
        try await testSite.fetch(
            nil, "--keys", "file:\(folder["second.jwks"])", into: folder["second-store"], withKeys: false
        ).succeeded()
        #expect(try await testSite.tree(of: "level", in: folder["second-store"]) == Tree(folder["level"]))
        try await Command.run("publish", testSite.vault, "--keys", "env:NOT_SET_ANYWHERE")
            .failed(77, naming: "NOT_SET_ANYWHERE")
        // Somebody else's key can't follow on the pack that is there.
        try await Command.run("keygen", "-o", folder["third.jwks"]).succeeded()
        try await refuses(77, naming: "level", "--keys", "file:\(folder["third.jwks"])")
    }
}
