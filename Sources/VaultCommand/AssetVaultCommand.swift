import ArgumentParser
import VaultCrypto
import VaultErrors
import VaultFileSystem

@main
struct AssetVaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assetvault",
        abstract: "Seals asset packs before they are hosted, and fetches, verifies and opens them.",
        discussion: """
            EXAMPLE
              assetvault keygen -o vault.jwks
              assetvault seal level-one -o level-one.avpack --keys file:vault.jwks
              assetvault open level-one.avpack -o opened --keys file:vault.jwks
            """,
        version: "0.1.0",
        groupedSubcommands: [
            CommandGroup(
                name: "Packs", subcommands: [Keygen.self, Seal.self, Open.self, Cat.self, Inspect.self]),
            CommandGroup(
                name: "Sites",
                subcommands: [
                    Init.self, Publish.self, Restore.self, Prune.self, Trust.self, Serve.self, Audit.self,
                ]),
            CommandGroup(
                name: "Clients",
                subcommands: [
                    Fetch.self, Downloader.self, Unlock.self, Status.self, Path.self, Remove.self,
                    Purgeable.self, Keep.self, Verify.self, Repair.self,
                ]),
        ])

    /// Runs the command and ends the process with the code of what happened.
    static func main() async {
        do {
            try ProcessHardening.apply()
            // Whoever handles keys says what it has come to: see `SwappableSecrets`.
            SecureHeap.initialise(bytes: 1 << 20)
            try TerminationSignals.cleanUpAndExit()
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            try Talk.requireAnswered()
        } catch let error as VaultError {
            fail(error)
        } catch {
            if let usage = VaultError(usage: error) { fail(usage) }
            exit(withError: error)
        }
    }

    private static func fail(_ error: VaultError) -> Never {
        Talk.error(error)
        exit(withError: ExitCode(error.category.exitCode))
    }
}
