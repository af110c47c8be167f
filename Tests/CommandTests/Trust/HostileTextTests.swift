import Testing
import VaultBase

/// Names chosen by a hostile publisher, team or uploader: no command lets them control a terminal or forge a line.
struct HostileTextTests {
    /// Clears the screen, imitates an audit's verdict, and reverses the text direction.
    static let name = "evil\u{1B}[2J\u{9B}31m\nok: 3 packs, 99 bytes verified\r\u{202E}\u{2066}\u{2028}"

    let world: World

    init() async throws { world = try await World("level") }

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

    private static let target: JSONValue = [
        "length": 5, "hashes": ["sha256": .string(String(repeating: "0", count: 64))],
    ]

    /// A site with a team, a key and a target of such names.
    private func publishHostileSite() async throws {
        let root: JSONValue = try world.json("vault/site/metadata/1.root.json")
        let key = try #require(root["signed", "keys"]?.members?.first { _ in true }?.value)
        let name = Self.name
        try await world.forgeTargets(roles: [name]) { signed in
            signed["delegations"] = [
                "keys": .object([name: key]),
                "roles": [
                    [
                        "name": .string(name), "keyids": [.string(name)], "threshold": 1,
                        "terminating": false, "paths": ["packs/evil/*"],
                    ]
                ],
            ]
            try signed.change("targets") { $0[name] = Self.target }
        }
    }

    @Test func namesInASite() async throws {
        try await publishHostileSite()
        for command in ["audit", "list"] {
            for json in [[], ["--json"]] {
                expectEscaped(try await world.run("\(command) $SITE $TRUST \(json)"))
            }
        }
        let shown = try await world.run("trust show $SITE $TRUST").succeeded()
        expectEscaped(shown)
        #expect(
            shown.text.contains("level") == false && shown.errorText.contains("is not trusted"),
            "\(shown.text)\(shown.errorText)")
        expectEscaped(try await world.run("trust show --json $SITE $TRUST").succeeded())
        let refused = try await world.fetch("--all")
        #expect(refused.exitCode != 0)
        expectEscaped(refused)
    }

    /// The role is trusted: its name and keys are shown among those of honest roles.
    @Test func namesInATrustedTeam() async throws {
        try await publishHostileSite()
        let published: JSONValue = try world.json("vault/site/metadata/1.targets.json")
        var targets = try #require(published["signed"]?.members)
        targets["targets"] = [:]
        var answers: [String] = []
        for role in ["root", "timestamp", "snapshot", "targets"] {
            try await world.sign(
                targets, as: "1.\(Self.name).json", with: world["vault/keys/\(role).pem"])
            try world.renameSigner(of: "1.\(Self.name).json", to: Self.name)
            let shown = try await world.run("trust show $SITE").succeeded()
            expectEscaped(shown)
            answers.append(shown.text + shown.errorText)
        }
        #expect(answers.contains { !$0.contains("is not trusted") }, "\(answers)")
        expectEscaped(try await world.run("audit $SITE"))
    }

    /// Key IDs in a root are arbitrary text.
    @Test func keyIDsInTheRoot() async throws {
        let root: JSONValue = try world.json("vault/site/metadata/1.root.json")
        var signed = try #require(root["signed"]?.members)
        let id = try #require(signed["roles"]?["timestamp", "keyids"]?.elements?.first?.text)
        try signed.change("keys") {
            $0[Self.name] = $0[id]
            $0[id] = nil
        }
        try signed.change("roles", "timestamp") { $0["keyids"] = [.string(Self.name)] }
        try await world.sign(signed, as: "1.root.json", with: world["vault/keys/root.pem"])
        try world.renameSigner(of: "timestamp.json", to: Self.name)
        expectEscaped(try await world.run("trust show $SITE").succeeded())
        expectEscaped(try await world.run("audit $SITE"), namingIt: false)
    }

    @Test func namesInATeamsPublication() async throws {
        let world = try await World.withTeam()
        try await world.forgeTeam(version: 2) {
            try $0.change("targets") { $0["packs/\(Self.name)"] = Self.target }
        }
        expectEscaped(try await world.run("publish $VAULT").succeeded())
    }

    /// Files uploaded into the site's folder.
    @Test func fileNamesInASite() async throws {
        for name in ["targets/packs/\(Self.name).avpack", "targets/packs/\(Self.name)/x.avpack"] {
            try world.write("vault/site/\(name)", "x")
            try await Tool.run("touch", "-d", "-100 days", world["vault/site/\(name)"])
        }
        expectEscaped(try await world.run("audit $SITE"))
        let pruned = try await world.run("prune $VAULT").succeeded()
        expectEscaped(pruned)
        #expect(pruned.text.split(separator: "\n").count == 2, "\(pruned.text)")
    }

    /// Arguments quoted by the parser or repeated in errors.
    @Test func commandArguments() async throws {
        let name = Self.name
        for arguments in [
            [name], ["fetch", "--\(name)"], ["trust", name], ["trust", "rotate", "v", name],
            ["downloader", "x", "--store", "s", "--request", name], ["audit", name], ["inspect", name],
            ["fetch", name, "--store", world["store"]], ["status", "--store", name],
            ["serve", name], ["cat", name, name], ["init", "\(name)/\(name)"], ["help", name],
        ] {
            // `init` makes a folder of that name.
            expectEscaped(
                try await world.run("\(arguments)", workingDirectory: world.path), namingIt: false)
        }
    }

    /// The files of a pack sealed by somebody else.
    @Test func fileNamesInAPack() async throws {
        try world.write("other/evil\u{202E}gpj.exe", "x")
        try await world.run("seal $WORK/other -o $WORK/other.avpack $KEYS").succeeded()
        expectEscaped(try await world.run("inspect $WORK/other.avpack $KEYS").succeeded())
    }
}
