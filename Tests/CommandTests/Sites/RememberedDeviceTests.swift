import FaultServer
import Foundation
import StrictJSON
import Testing

/// The device that was named last in a store counts until another one is named.
@Suite(.timeLimit(.minutes(5))) struct RememberedDeviceTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    /// Two levels with a sky in three scales and texts in two languages; the first one is installed at first.
    init() async throws {
        testSite = try await TestSite()
        let folder = testSite.folder
        for level in 1...2 {
            for scale in 1...3 { try folder.write("game/\(level)/sky@\(scale)", "sky \(scale)") }
            for language in ["de", "en"] { try folder.write("game/\(level)/texts/\(language)", language) }
        }
        let rules: [JSONValue] =
            (1...2).map { ["paths": .string("\($0)/**"), "tags": [.string("level\($0)")]] }
            + (1...3).map { ["paths": .string("*/sky@\($0)"), "traits": ["scale": .integer($0)]] }
            + ["de", "en"].map { ["paths": .string("*/texts/\($0)"), "traits": ["language": .string($0)]] }
        try testSite.settings {
            $0["resources"] = [
                "game": [
                    "source": .string(folder["game"]), "rules": .array(rules), "initial": ["level1"],
                    "traits": ["scale": ["match": "nearest"], "language": ["match": "language"]],
                ]
            ]
        }
        try await testSite.publish()
    }

    private func fetch(_ arguments: String..., from url: String? = nil) async throws -> CommandResult {
        try await Command.run(
            ["fetch", url ?? testSite.site, "--store", testSite.store, "--trust", testSite.root] + arguments
                + testSite.keys)
    }

    /// The loaded packs that nothing replaced, without the tree's name.
    private func inUse() async throws -> Set<String> {
        let packs = try await testSite.status().values.filter { $0.version != nil && !$0.isPurgeable }
        return Set(packs.map { String($0.id.dropFirst("game/".count)) })
    }

    /// The files that a program finds offline.
    private func accessed(_ arguments: String...) async throws -> CommandResult {
        try await Command.run(
            ["access"] + arguments + ["--store", testSite.store]
                + ["--", "sh", "-c", #"cd "$ASSETVAULT_RESOURCES" && find -L . -type f | sort"#])
    }

    private func names(_ level: Int, _ traits: String...) -> Set<String> {
        Set(traits.map { "level\(level)/\($0)" })
    }

    @Test func laterRequestsTakeItsVariants() async throws {
        try await fetch("--device", "scale=2", "--device", "language=de").succeeded()
        let first = names(1, "scale-2", "language-de")
        #expect(try await inUse() == first)
        try await fetch("--tag", "level2").succeeded()
        let loaded = try await testSite.status().filter { $0.value.version != nil }.keys.sorted()
        #expect(
            loaded == [
                "game/level1/language-de", "game/level1/scale-2", "game/level2/language-de",
                "game/level2/scale-2",
            ])
        let result = try await accessed("level2")
        #expect(result.text == "./2/sky@2\n./2/texts/de\n", "\(result.errorText)")
        // Another one for this access only: it is not loaded.
        try await accessed("level2", "--device", "scale=1").failed(66, naming: "not all packs")
        #expect(try await accessed("level2").exitCode == 0)
        // A site is asked only for traits that are stated for the first time.
        let away = try await Command.run(
            ["access", "level2", "--site", "http://127.0.0.1:1", "--device", "scale=2"]
                + ["--device", "language=de", "--store", testSite.store] + testSite.keys + ["--", "true"])
        #expect(away.exitCode == 0, "\(away.errorText)")
        // Also without any device, a site that can't be reached takes nothing away.
        try await fetch("--tag", "level2", from: "\(folder["nowhere"])").failed(66)
        #expect(try await accessed("level2").exitCode == 0)
    }

    @Test func anotherDeviceTakesItsPlace() async throws {
        try await fetch("--device", "scale=2", "--device", "language=de").succeeded()
        try await fetch("--device", "scale=3").succeeded()
        let server = try FaultServer(testSite.site)
        try await fetch("--tag", "level1", from: server.url).succeeded()
        #expect(server.packs.isEmpty)
        // It stated no language, so the first one serves.
        #expect(try await inUse() == names(1, "scale-3", "language-de"))
        try await fetch("--tag", "level2").succeeded()
        #expect(try await accessed("level2").text == "./2/sky@3\n./2/texts/de\n")
        // An access online names one, too.
        let online = try await Command.run(
            ["access", "level2", "--site", testSite.site, "--device", "scale=1", "--store", testSite.store]
                + testSite.keys + ["--", "true"])
        #expect(online.exitCode == 0, "\(online.errorText)")
        #expect(try await accessed("level2").text == "./2/sky@1\n./2/texts/de\n")
    }

    @Test func backToAllVariants() async throws {
        try await fetch("--device", "scale=2", "--device", "language=de").succeeded()
        try await fetch("--device", "scale=3", "--device", "language=en").succeeded()
        try await fetch("--device", "all").succeeded()
        let all = names(1, "scale-1", "scale-2", "scale-3", "language-de", "language-en")
        #expect(try await inUse() == all)
        // What was replaced is in use again, and that is remembered, too.
        try await fetch("--tag", "level2").succeeded()
        #expect(try await accessed("level2").text.split(separator: "\n").count == 5)
        try await fetch("--device", "all", "--device", "scale=2").failed(64, naming: "either 'all' or traits")
    }

    private var isRecorded: Bool {
        FileManager.default.fileExists(atPath: folder["store/permanent/@choice"])
    }

    /// What a device gets that states nothing, with one line that says so; offline, too.
    @Test func withoutAnyTheFallbacksAreTaken() async throws {
        let result = try await fetch().succeeded()
        #expect(try await inUse() == names(1, "scale-3", "language-de"))
        #expect(!isRecorded)
        let lines = result.errorText.split(separator: "\n").filter { $0.contains("no device is stated") }
        #expect(lines.count == 1 && lines[0].contains("language, scale"), "\(result.errorText)")
        #expect(lines.first?.contains("--device all") == true)
        try await fetch("--tag", "level2").succeeded()
        #expect(try await accessed("level2").text == "./2/sky@3\n./2/texts/de\n")
        // A user who stated one needs no second notice.
        let stated = try await fetch("--device", "scale=2", "--device", "language=de").succeeded()
        #expect(!stated.errorText.contains("no device"), "\(stated.errorText)")
        #expect(try await !fetch().succeeded().errorText.contains("no device"))
        // A downloader says it as well.
        let other = folder["other-store"]
        let downloaded = try await Command.run(
            "downloader", testSite.site, "--store", other, "--trust", testSite.root, "--request", "install"
        ).succeeded()
        #expect(downloaded.errorText.contains("no device is stated"), "\(downloaded.errorText)")
        #expect(
            try await testSite.status(of: other).values.filter { $0.state == "toBeTransferred" }.count == 2)
    }

    /// A trait that no pack has chooses nothing: it is probably mistyped.
    @Test func aMistypedTrait() async throws {
        for command in [["fetch"], ["fetch", "--dry-run"], ["downloader", "--request", "install"]] {
            let keys = command[0] == "fetch" ? testSite.keys : []
            let result = try await Command.run(
                command + [
                    testSite.site, "--store", testSite.store, "--trust", testSite.root, "--device", "scal=2",
                ] + keys)
            result.failed(64, naming: "no listed pack has the trait 'scal'", "did you mean 'scale'?")
            #expect(!isRecorded)
        }
        try await Command.run(
            [
                "access", "level1", "--site", testSite.site, "--trust", testSite.root, "--store",
                testSite.store,
            ]
                + ["--device", "lang=de"] + testSite.keys + ["--", "true"]
        ).failed(64, naming: "'lang'")
        #expect(try !isRecorded && testSite.files(in: "").allSatisfy { !$0.hasSuffix(".avpack") })
        // What was taken before stays, also where no pack has it any more.
        try await fetch("--device", "scale=2", "--device", "language=de").succeeded()
        for language in ["de", "en"] {
            for level in 1...2 { try await Tool.run("rm", folder["game/\(level)/texts/\(language)"]) }
        }
        try testSite.settings { settings in
            var tree = settings["resources"]?.members?["game"]?.members ?? [:]
            tree["rules"] = .array((tree["rules"]?.elements ?? []).dropLast(2))
            tree["traits"] = ["scale": ["match": "nearest"]]
            settings["resources"] = ["game": .object(tree)]
        }
        try await testSite.publish()
        try await fetch("--device", "scale=2", "--device", "language=de").succeeded()
    }

    /// What did not work is not remembered, nor what was only tried.
    @Test func whatDidNotWork() async throws {
        try await fetch("--device", "scale=2", "--dry-run").succeeded()
        #expect(!isRecorded)
        try await fetch("--device", "scale=2", "--channel", "betta").failed(66, naming: "betta")
        #expect(!isRecorded)
        try await fetch("--device", "scale=2", "--tag", "levle2").failed(67, naming: "levle2")
        #expect(!isRecorded)
        let server = try FaultServer(testSite.site) {
            $0.path.hasSuffix("timestamp.json") ? .status(500) : .file
        }
        #expect(try await fetch("--device", "scale=2", from: server.url).exitCode != 0)
        #expect(!isRecorded)
        try await fetch("--device", "scale=2").succeeded()
        #expect(isRecorded)
    }

    /// A downloader follows the app's device where it names none, and changes nothing for the app.
    @Test func aDownloaderFollowsTheApp() async throws {
        try await fetch("--device", "scale=2", "--device", "language=de").succeeded()
        for scale in 1...3 { try folder.write("game/1/sky@\(scale)", "newer sky \(scale)") }
        try await testSite.publish()
        func downloaded(_ arguments: String...) async throws -> [String] {
            let server = try FaultServer(testSite.site)
            try await Command.run(
                ["downloader", server.url, "--store", testSite.store, "--request", "update"] + arguments
            ).succeeded()
            let names = server.packs.compactMap { exchange in
                exchange.request.path.split(separator: "/").last?.split(separator: ".").dropFirst().first
            }
            return Set(names.map(String.init)).sorted()
        }
        #expect(try await downloaded() == ["scale-2"])
        _ = try await downloaded("--device", "scale=3")
        try await fetch().succeeded()
        #expect(try await inUse() == names(1, "scale-2", "language-de"))
        #expect(try await accessed("level1").text == "./1/sky@2\n./1/texts/de\n")
    }

    /// What a device states that chooses nothing is probably mistyped.
    @Test(arguments: [
        ("scal=2", "no pack has the trait 'scal', which the device states; did you mean 'scale'?"),
        ("weather=2", "no pack has the trait 'weather', which the device states; leave it out"),
        ("scale=big", "the trait 'scale' is a number, and the device states none"),
        ("scale=2", ""), ("language=xx", ""), ("all", ""),
    ])
    func aPlanWarnsOfMistypedTraits(stated: String, expected: String) async throws {
        let result = try await Command.run("plan", testSite.vault, "--device", stated).succeeded()
        #expect(expected.isEmpty || result.errorText.contains("warning: \(expected)"), "\(result.errorText)")
        if expected.isEmpty { #expect(!result.errorText.contains("warning"), "\(result.errorText)") }
    }

    /// What counts for limits is what the device gets.
    @Test func usageCountsItsVariants() async throws {
        try await fetch("--device", "scale=2", "--device", "language=de").succeeded()
        try await fetch().succeeded()
        let answer = try await Command.run("usage", "--json", "--store", testSite.store).succeeded().json()
        #expect(answer["initialSize"]?.number == 7)
    }

    @Test(arguments: [
        #"{"device": 1}"#, #"{"device": "some"}"#, #"{"device": ["scale=2"]}"#,
        #"{"device": {"scale": "2"}}"#, #"{"device": {"scale": [2]}}"#, #"{"device": null}"#,
    ])
    func aDamagedRecord(text: String) async throws {
        try await fetch("--device", "scale=2").succeeded()
        try folder.write("store/permanent/@choice", text)
        try await fetch().failed(65, naming: "is damaged")
        try await accessed("level1").failed(65, naming: "is damaged")
        try await Tool.run("rm", folder["store/permanent/@choice"])
        try await fetch("--device", "scale=2").succeeded()
        #expect(try await accessed("level1").text == "./1/sky@2\n./1/texts/de\n")
    }
}
