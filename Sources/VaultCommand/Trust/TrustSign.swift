import ArgumentParser
import SystemPackage
import VaultAuthoring
import VaultErrors

struct TrustSign: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Add signatures to metadata that waits for them.",
        discussion: """
            Works where the keys are kept, without the vault: take a file from the vault's pending/ there, sign it, and \
            bring it back; then publish. Where several people sign copies, --merge takes over their signatures.

            EXAMPLE
              assetvault trust sign pending/2.root.json --key /media/safe/root.pem
              assetvault trust sign pending/2.root.json --merge from-alice/2.root.json
            """)

    @Argument(
        help: ArgumentHelp("The file to sign; it is written again.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var file: String

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp("A private key to sign with, in PEM. May be repeated.", valueName: "pem"),
        completion: .file(extensions: ["pem"]))
    var keys: [String] = []

    @Option(
        name: .customLong("merge"),
        help: ArgumentHelp(
            "A copy of the file that was signed elsewhere. May be repeated.", valueName: "copy"))
    var copies: [String] = []

    @OptionGroup var signing: SigningOptions

    func run() async throws {
        guard !(keys + copies).isEmpty else {
            throw VaultError(
                .usage, "there is nothing to sign with", at: "trust sign", remedy: "give --key or --merge")
        }
        let report = try DetachedSigning(of: FilePath(file)).run(
            keys: keys.map { FilePath($0) }, copies: copies.map { FilePath($0) },
            passphrase: try signing.passphrase())
        for line in report.content { Console.note("  \(line)") }
        Console.note(
            "\(file): \(report.role) version \(report.version), expires \(report.expires), has signatures of \(report.signingKeys.counting("key")), which 'publish' verifies"
        )
    }
}
