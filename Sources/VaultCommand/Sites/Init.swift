import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultErrors

struct Init: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a vault: settings, keys, and a root of trust.",
        discussion: """
            Makes vault.json, keys/ (a vault key and one signing key a role, mode 0600, ignored by git), \
            trusted-root.json, which clients pin, and site/. A vault.json and keys that are there already are used. Back up \
            keys/ before you publish.

            EXAMPLE
              assetvault init my-game
            """)

    @Argument(
        help: ArgumentHelp("The folder to make; new or empty.", valueName: "vault"), completion: .directory)
    var vault: String

    @Option(
        help: ArgumentHelp(
            "Make a vault for a team that publishes some packs of another vault's site, under this name.",
            valueName: "name"))
    var team: String?

    func run() async throws {
        SwapWarning.report()
        let role = try team.map { name throws(VaultError) in try SiteStructure.role(named: name) }
        try await VaultFolder(FilePath(vault)).create(for: role, now: .now)
        if let role {
            return Console.note(
                "made \(vault): give \(vault)/\(role).pub.pem to the publisher of the site, publish, and back up keys/"
            )
        }
        Console.note(
            "made \(vault): declare packs in vault.json or with 'publish --pack ID=SOURCE', and back up keys/"
        )
    }
}
