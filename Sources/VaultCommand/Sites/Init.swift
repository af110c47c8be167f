import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultFileSystem

struct Init: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a vault: settings, keys, and a root of trust.",
        discussion: """
            Makes vault.json, keys/ (a vault key and one signing key a role, mode 0600, ignored by git), \
            trusted-root.json, which clients pin, and site/. A vault.json and keys that are there already \
            are used. Back up keys/ before you publish.

            --from reads manifests of Apple's Background Assets, one a pack: their IDs (in lower case), \
            policies, files and languages. Run it where you run Apple's packaging tool: paths in manifests \
            begin there.

            EXAMPLE
              assetvault init my-game
              assetvault init my-game --from Tutorial.json --from Levels.json
            """)

    @Argument(
        help: ArgumentHelp("The folder to make; new or empty.", valueName: "vault"), completion: .directory)
    var vault: String

    @Option(
        help: ArgumentHelp(
            "Make a vault for a team that publishes some packs of another vault's site, under this name.",
            valueName: "name"))
    var team: String?

    @Option(
        name: .customLong("from"),
        help: ArgumentHelp(
            "Declare the pack of this manifest of Apple's; repeatable.", valueName: "manifest.json"),
        completion: .file(extensions: ["json"]))
    var manifests: [String] = []

    func run() async throws {
        SwapWarning.report()
        let found = try manifests.map { path throws(VaultError) in try AppleManifest(reading: FilePath(path))
        }
        let role = try team.map { name throws(VaultError) in try SiteStructure.role(named: name) }
        try await VaultFolder(FilePath(vault)).create(
            for: role, declaring: found, source: sourceFolder, now: .now)
        for manifest in found {
            if "\(manifest.id)" != manifest.originalID {
                Console.note("the pack '\(manifest.originalID)' is '\(manifest.id)' here")
            }
            if !manifest.ignored.isEmpty {
                Console.note(
                    "'\(manifest.id)': without a meaning here: \(manifest.ignored.joined(separator: ", "))")
            }
        }
        let languages = found.filter { $0.hasLanguage }.map { "'\($0.id)'" }
        if !languages.isEmpty {
            Console.note(
                "\(languages.joined(separator: ", ")): \"language\" is a trait, which the app chooses packs by; only variants in \"resources\" are chosen for it"
            )
        }
        if let role {
            return Console.note(
                "made \(vault): give \(vault)/\(role).pub.pem to the publisher of the site, publish, and back up keys/, vault.json and site/metadata/"
            )
        }
        Console.note(
            "made \(vault): declare packs or resources in vault.json, or a pack with 'publish --pack ID=SOURCE'; back up keys/, vault.json and site/metadata/"
        )
    }

    /// The present folder, as the vault names it: relative where the vault is below it.
    private var sourceFolder: FilePath {
        get throws(VaultError) {
            let path = FilePath(vault).lexicallyNormalized()
            if path.isRelative, path.components.first?.kind == .regular {
                return FilePath(path.components.map { _ in ".." }.joined(separator: "/"))
            }
            return try FilePath(".").absolute
        }
    }
}
