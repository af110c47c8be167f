import Foundation
import StrictJSON
import Testing

/// Names chosen by a hostile publisher, team or uploader: no command lets them control a terminal or forge a line.
struct HostileTextTests {
    /// Clears the screen, imitates an audit's verdict, and reverses the text direction.
    static let name = "evil\u{1B}[2J\u{9B}31m\nok: 3 packs, 99 bytes verified\r\u{202E}\u{2066}\u{2028}"

    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite(publishing: ["level"])
        folder = testSite.folder
    }

    private func expectEscaped(
        _ result: CommandResult, namingIt: Bool = true, at location: SourceLocation = #_sourceLocation
    ) {
        let text = result.text + result.errorText
        for scalar in text.unicodeScalars where scalar != "\n" {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                Issue.record("\(scalar.escaped(asASCII: true)) in \(text)", sourceLocation: location)
            default: break
            }
        }
        let lines = text.split(separator: "\n")
        #expect(!lines.contains { $0.hasPrefix("ok: 3 packs") }, "\(text)", sourceLocation: location)
        #expect(!namingIt || text.contains("evil"), "\(text)", sourceLocation: location)
    }

    /// A site with a team, a key and a target of such names.
    private func publishHostileSite() async throws {
        let root: JSONValue = try folder.json("vault/site/metadata/1.root.json")
        let key = try #require(root["signed", "keys"]?.members?.first { _ in true }?.value)
        let name = Self.name
        try await testSite.forgeTargets(roles: [name]) { signed in
            signed["delegations"] = [
                "keys": .object([name: key]),
                "roles": [
                    [
                        "name": .string(name), "keyids": [.string(name)], "threshold": 1,
                        "terminating": false, "paths": ["packs/evil/*"],
                    ]
                ],
            ]
            var targets = try #require(signed["targets"]?.members)
            targets[name] = ["length": 5, "hashes": ["sha256": .string(String(repeating: "0", count: 64))]]
            signed["targets"] = .object(targets)
        }
    }

    @Test func namesInASite() async throws {
        try await publishHostileSite()
        let pinned = [testSite.site, "--trust", testSite.root]
        for command in ["audit", "list"] {
            for json in [[], ["--json"]] {
                expectEscaped(try await Command.run([command] + pinned + json))
            }
        }
        let shown = try await Command.run(["trust", "show"] + pinned).succeeded()
        expectEscaped(shown)
        #expect(
            shown.text.contains("level") == false && shown.errorText.contains("is not believed"),
            "\(shown.text)\(shown.errorText)")
        expectEscaped(try await Command.run(["trust", "show", "--json"] + pinned).succeeded())
        let refused = try await testSite.fetch(nil, "--all")
        #expect(refused.exitCode != 0)
        expectEscaped(refused)
    }

    /// The role is trusted: its name and keys are shown among those of honest roles.
    @Test func namesInATrustedTeam() async throws {
        try await publishHostileSite()
        let published: JSONValue = try folder.json("vault/site/metadata/1.targets.json")
        var targets = try #require(published["signed"]?.members)
        targets["targets"] = [:]
        var answers: [String] = []
        for role in ["root", "timestamp", "snapshot", "targets"] {
            try await testSite.sign(
                targets, as: "1.\(Self.name).json", with: folder["vault/keys/\(role).pem"])
            try testSite.renameSigner(of: "1.\(Self.name).json", to: Self.name)
            let shown = try await Command.run("trust", "show", testSite.site).succeeded()
            expectEscaped(shown)
            answers.append(shown.text + shown.errorText)
        }
        #expect(answers.contains { !$0.contains("is not believed") }, "\(answers)")
        expectEscaped(try await Command.run("audit", testSite.site))
    }

    /// Key IDs in a root are arbitrary text.
    @Test func keyIDsInTheRoot() async throws {
        let root: JSONValue = try folder.json("vault/site/metadata/1.root.json")
        var signed = try #require(root["signed"]?.members)
        let keys = try #require(signed["keys"]?.members)
        var roles = try #require(signed["roles"]?.members)
        let id = try #require(roles["timestamp"]?["keyids"]?.elements?.first?.text)
        var renamed = keys
        renamed[id] = nil
        renamed[Self.name] = keys[id]
        var role = try #require(roles["timestamp"]?.members)
        role["keyids"] = [.string(Self.name)]
        roles["timestamp"] = .object(role)
        signed["keys"] = .object(renamed)
        signed["roles"] = .object(roles)
        try await testSite.sign(signed, as: "1.root.json", with: folder["vault/keys/root.pem"])
        try testSite.renameSigner(of: "timestamp.json", to: Self.name)
        expectEscaped(try await Command.run("trust", "show", testSite.site).succeeded())
        expectEscaped(try await Command.run("audit", testSite.site), namingIt: false)
    }

    @Test func namesInATeamsPublication() async throws {
        let studio = try await Studio()
        try await studio.forgeTeam(version: 2) { signed in
            guard var targets = signed["targets"]?.members else { return }
            targets["packs/\(Self.name)"] = [
                "length": 5, "hashes": ["sha256": .string(String(repeating: "0", count: 64))],
            ]
            signed["targets"] = .object(targets)
        }
        expectEscaped(try await Command.run("publish", studio.testSite.vault).succeeded())
    }

    /// Files uploaded into the site's folder.
    @Test func fileNamesInASite() async throws {
        for name in ["targets/packs/\(Self.name).avpack", "targets/packs/\(Self.name)/x.avpack"] {
            try folder.write("vault/site/\(name)", "x")
            try await Tool.run("touch", "-d", "-100 days", folder["vault/site/\(name)"])
        }
        expectEscaped(try await Command.run("audit", testSite.site))
        let pruned = try await Command.run("prune", testSite.vault).succeeded()
        expectEscaped(pruned)
        #expect(pruned.text.split(separator: "\n").count == 2, "\(pruned.text)")
    }

    /// Arguments quoted by the parser or repeated in errors.
    @Test func commandArguments() async throws {
        let name = Self.name
        for arguments in [
            [name], ["fetch", "--\(name)"], ["trust", name], ["trust", "rotate", "v", name],
            ["downloader", "x", "--store", "s", "--request", name], ["audit", name], ["inspect", name],
            ["fetch", name, "--store", folder["store"]], ["status", "--store", name],
            ["serve", name], ["cat", name, name], ["init", "\(name)/\(name)"], ["help", name],
        ] {
            // `init` makes a folder of that name.
            expectEscaped(
                try await Command.run(arguments, workingDirectory: folder.path), namingIt: false)
        }
    }

    /// The files of a pack sealed by somebody else.
    @Test func fileNamesInAPack() async throws {
        try folder.write("other/evil\u{202E}gpj.exe", "x")
        try await Command.run(
            ["seal", folder["other"], "-o", folder["other.avpack"]] + testSite.keys
        ).succeeded()
        expectEscaped(try await Command.run(["inspect", folder["other.avpack"]] + testSite.keys).succeeded())
    }
}
