import Testing

/// `vault.json` is edited by people: commands change only what they must, and errors name the line.
struct SettingsTextTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        for name in ["level", "music"] { try folder.write("\(name)/file", name) }
    }

    /// Tabs, unsorted names, and several values in a line.
    private static let text = """
        {
        \t"packs" : {
        \t\t"music" : {"source":"../music","tags":["b","a"]},
        \t\t"level" : {
        \t\t\t"policy" : "essential",
        \t\t\t"source" : "../level"
        \t\t}
        \t},

        \t"mine" : [ 1 ,2],  "format" : 1
        }
        """

    private func expectSettings(_ text: String, at location: SourceLocation = #_sourceLocation) throws {
        #expect(
            try String(decoding: folder.bytes("vault/vault.json"), as: UTF8.self) == text,
            sourceLocation: location)
    }

    @Test(arguments: [text, text + "\n", text.replacing("\n", with: "\r\n")])
    func unchangedTextIsKept(text: String) async throws {
        let newline = text.contains("\r\n") ? "\r\n" : "\n"
        try folder.write("vault/vault.json", text)
        try await testSite.publish()
        try expectSettings(text)
        try folder.write("level/file", "version 2")
        try await testSite.publish("--pack", "other=\(folder["music"])")
        let source = "\"source\" : \"../level\"\(newline)\t\t}"
        let declared = text.replacing(
            source,
            with:
                "\(source),\(newline)\t\t\"other\" : {\(newline)\t\t\t\"source\" : \"../music\"\(newline)\t\t}"
        )
        try expectSettings(declared)

        try await Command.run("restore", testSite.vault, "level", "--version", "1").succeeded()
        let level = "\"source\" : \"../level\""
        let pin = ",\(newline)\t\t\t\"pin\" : 1"
        try expectSettings(declared.replacing(level, with: level + pin))
        try await Command.run("restore", testSite.vault, "level", "--latest").succeeded()
        try expectSettings(declared)

        try await testSite.publish("--pack", "music=\(folder["level"])")
        try expectSettings(
            declared.replacing("\"source\":\"../music\"", with: "\"source\":\"../level\""))
    }

    /// A vault as `init` makes it.
    @Test func freshSettings() async throws {
        let fresh = String(decoding: try folder.bytes("vault/vault.json"), as: UTF8.self)
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try expectSettings(
            fresh.replacing(
                "\"packs\": {}",
                with: "\"packs\": {\n    \"level\": {\n      \"source\": \"../level\"\n    }\n  }"))
    }

    /// A vault may have only resources: a pack's declaration adds the member for packs.
    @Test func settingsWithoutPacks() async throws {
        let text = "{\n  \"format\": 1\n}\n"
        try folder.write("vault/vault.json", text)
        try await testSite.publish()
        try expectSettings(text)
        #expect(try await Command.run("plan", testSite.vault).succeeded().errorText.isEmpty)
        try await Command.run("restore", testSite.vault, "level", "--version", "1").failed(
            66, naming: "no pack 'level'")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try expectSettings(
            text.replacing(
                "1\n",
                with:
                    "1,\n  \"packs\": {\n    \"level\": {\n      \"source\": \"../level\"\n    }\n  }\n"))
    }

    @Test(
        arguments: [
            ("{\n \"format\": 1\n \"packs\": {}}", 65, "3:2", "a comma"),
            ("{\"format\": 1,\n \"format\": 1,\n \"packs\": {}}", 65, "2:2", "twice"),
            ("{\"format\": 2, \"packs\": {}}", 65, "1:12", "format"),
            ("\n{\"packs\": {}}", 65, "2:1", "\"format\" is missing"),
            ("{\"format\": 1,\n \"packs\": []}", 65, "2:11", "\"packs\" is an array"),
            ("{\"format\": 1, \"packs\": {\n  \"Up\": {\"source\": \"x\"}}}", 64, "2:3: Up", "a segment"),
            ("{\"format\": 1, \"packs\": {\n  \"level\": {}}}", 65, "2:12: level", "\"source\" is missing"),
            (
                "{\"format\": 1, \"packs\": {\n  \"level\": {\"source\": \"x\",\n\"policy\": \"often\"}}}",
                64,
                "3:11: level", "'often'"
            ),
            (
                "{\"format\": 1, \"packs\": {\n  \"level\": {\"source\": \"x\",\n\"tags\": [\"a\", 1]}}}", 65,
                "3:15: level", "an integer, not a string"
            ),
            (
                "{\"format\": 1, \"packs\": {\n  \"level\": {\"source\": \"x\",\n\"exclude\": [\"a\", \"/\"]}}}",
                64,
                "3:18: level", "'/'"
            ),
            ("{\"format\": 1, \"packs\": {},\n\"expiry\": {\"root\": 0}}", 64, "2:20", "0 days"),
            ("{\"format\": 1, \"packs\": {},\n\"expiry\": {\"rot\": 9}}", 64, "2:12", "\"rot\""),
            ("{\"format\": 1, \"packs\": {},\n\"bins\": 3}", 64, "2:9", "3 bins"),
            (
                "{\"format\": 1, \"packs\": {},\n\"quietName\": true}", 64, "2:1",
                "\"quietName\" is unknown; did you mean 'quietNames'"
            ),
            (
                "{\"format\": 1, \"packs\": {},\n\"audience\": {}}", 64, "2:1", "did you mean 'audiences'"
            ),
            (
                "{\"format\": 1, \"packs\": {},\n\"teams\": {\"a\": {\"paths\": [], \"keys\": [\"k\"], \"sit\": \"s\"}}}",
                64, "2:45: team a", "\"sit\" is unknown"
            ),
            ("{\"format\": 1, \"packs\": {},\n\"teams\": {\"Root\": {}}}", 64, "2:11", "'Root'"),
        ] as [(String, Int32, String, String)])
    func anErrorSaysWhere(text: String, code: Int32, place: String, problem: String) async throws {
        try folder.write("vault/vault.json", text)
        try await Command.run("publish", testSite.vault).failed(
            code, naming: "vault.json:\(place): ", problem)
        #expect(try folder.bytes("vault/vault.json") == Array(text.utf8))
    }
}
