import ArgumentParser
import VaultErrors
import VaultKeys

/// How encrypted signing keys are read.
struct SigningOptions: ParsableArguments {
    @Option(
        name: .customLong("passphrase"),
        help: ArgumentHelp(
            "Where the passphrase of encrypted signing keys comes from: env:NAME, file:PATH or fd:N.",
            valueName: "spec"))
    var spec: String?

    func passphrase() throws(VaultError) -> PassphraseSource? {
        SwapWarning.report()
        guard let spec else { return nil }
        do { return try PassphraseSource(parsing: spec) } catch { throw error.placed(at: "--passphrase") }
    }
}
