import AssetVault
import Foundation

/// The command line.
struct Options {
    static let usage = """
        usage: maze SITE --store DIR --trust root.json --keys DIR [--moves FILE] [--pace MS] [--wait SECONDS]

          SITE      where the packs are: a URL or a folder
          --store   where the game keeps packs, and how far the player has come
          --trust   the site's root file, which comes with the game
          --keys    a folder of key files; one that appears while the game runs counts, too
          --moves   plays the moves in a file: w, a, s, d; so does a pipe
          --pace    milliseconds between two of them
          --wait    how long to wait at a locked gate for its key
        """

    let configuration: VaultConfiguration
    let keys: FilePath
    let save: SaveFile
    let moves: FilePath?
    let pace: Duration
    let patience: Duration

    init(_ arguments: [String]) throws(VaultError) {
        var site: String?
        var values: [String: String] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if ["--store", "--trust", "--keys", "--moves", "--pace", "--wait"].contains(argument) {
                values[argument] = rest.popFirst()
            } else if site == nil, !argument.hasPrefix("-") {
                site = argument
            } else {
                throw Self.misuse("'\(argument)' is unknown")
            }
        }
        guard let site, let store = values["--store"], let trust = values["--trust"],
            let keys = values["--keys"]
        else { throw Self.misuse("something is missing") }
        guard let pace = Double(values["--pace"] ?? "0"), (0...10_000).contains(pace),
            let patience = Double(values["--wait"] ?? "0"), (0...1e6).contains(patience)
        else { throw Self.misuse("that is no time") }
        self.keys = FilePath(keys)
        save = SaveFile(path: FilePath(store).appending("journey"))
        moves = values["--moves"].map { FilePath($0) }
        self.pace = .milliseconds(pace)
        self.patience = .seconds(patience)
        guard let root = try? Data(contentsOf: URL(filePath: trust)) else {
            throw VaultError(.missing, "the root file can't be read", at: trust, remedy: "check --trust")
        }
        configuration = VaultConfiguration(
            site: try SiteLocation(site), store: StoreLayout(root: FilePath(store)),
            trustedRoot: Array(root), keys: DirectoryKeyProvider(path: self.keys))
    }

    private static func misuse(_ problem: String) -> VaultError {
        VaultError(.usage, problem, at: "maze", remedy: "see maze --help")
    }
}
