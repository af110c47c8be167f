import ArgumentParser
import VaultBase
import VaultCrypto
import VaultFileSystem

@main
struct AssetVaultCommand: AsyncParsableCommand {
    // Each command states its name: finding one from the name of a type takes a third of the time that a start takes.
    static let configuration = CommandConfiguration(
        commandName: "assetvault",
        abstract: "Seals asset packs before they are hosted, and fetches, verifies and opens them.",
        discussion: """
            EXAMPLE
              assetvault init my-game
              assetvault publish my-game --pack levels/one=assets/one
              assetvault upload my-game/site remote:bucket/game
              assetvault fetch https://cdn.example.com/game --store store \\
                --trust my-game/trusted-root.json --keys file:my-game/keys/vault.jwks
            """,
        version: release,
        groupedSubcommands: [
            CommandGroup(
                name: "Packs", subcommands: [Keygen.self, Seal.self, Open.self, Cat.self, Inspect.self]),
            CommandGroup(
                name: "Sites",
                subcommands: [
                    Init.self, Plan.self, Publish.self, Promote.self, ReleaseCommand.self, Restore.self,
                    Prune.self, Upload.self, Mirror.self, Trust.self, Keys.self, Serve.self, List.self,
                    Audit.self,
                ]),
            CommandGroup(
                name: "Clients",
                subcommands: [
                    Fetch.self, Downloader.self, Unlock.self, Status.self, Path.self, Access.self,
                    Remove.self, Preserve.self, Purge.self, Usage.self, Verify.self, Repair.self,
                    RecordAccess.self,
                ]),
        ])

    static let release = "0.1.0"

    /// Runs the command and ends the process with its exit code.
    static func main() async {
        do {
            try ProcessSettings.requireOpenFiles()
            try ProcessSettings.hideMemory()
            // Commands that read keys warn where this failed: see `SwapWarning`.
            SecureHeap.initialise(bytes: 1 << 20)
            try TerminationSignals.cleanUpAndExit()
            var command = try await asyncParseAsRoot(nil)
            if let command = command as? any LongCommand { ProgressOutput.use(command.progress.form) }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            try Console.requireAnswered()
            SwapWarning.reportOverflow()
            ProgressOutput.end()
        } catch let error as VaultError {
            fail(error)
        } catch let reported as ReportedError {
            ProgressOutput.end(reported.error)
            exit(withError: ExitCode(reported.error.category.exitCode))
        } catch let code as ExitCode {
            // Of a program that it ran.
            exit(withError: code)
        } catch {
            if let usage = VaultError(usage: error) { fail(usage) }
            end(with: error)
        }
    }

    /// Prints the text of `--help` and the like, which contains only this program's own text. Any other error is unexpected.
    private static func end(with error: any Error) -> Never {
        let code = exitCode(for: error)
        if code.isSuccess {
            Console.answer(bytes: Array((fullMessage(for: error) + "\n").utf8))
            do { try Console.requireAnswered() } catch { fail(error) }
        } else {
            Console.note("assetvault: \(message(for: error))")
        }
        exit(withError: code)
    }

    private static func fail(_ error: VaultError) -> Never {
        SwapWarning.reportOverflow()
        if !ProgressOutput.end(error) { Console.error(error) }
        exit(withError: ExitCode(error.category.exitCode))
    }
}

/// Ends a command that has printed the error already, in its place among others.
struct ReportedError: Error {
    let error: VaultError
}

extension VaultError.Category {
    /// The exit code of this kind of failure. The numbers are in the range of `sysexits.h`; 67, 72 and 78 have other meanings here.
    var exitCode: Int32 {
        switch self {
        case .usage: 64
        case .corrupt: 65
        case .missing: 66
        case .unknownTag: 67
        case .unreachable: 68
        case .unavailable: 69
        case .diskFull: 71
        case .notHosted: 72
        case .unwritable: 73
        case .io: 74
        case .busy, .cancelled: 75
        case .untrusted: 76
        case .key: 77
        case .limit: 78
        case .accessLimit: 79
        }
    }
}
