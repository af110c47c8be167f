import ArgumentParser
import SealedPack
import VaultContent
import VaultErrors
import VaultFileSystem

struct Cat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Print one file of a sealed pack; only its own pieces are read.",
        discussion: """
            The pack is a file, or with --site the ID of one that the site lists: its file is read where it is in a folder, and \
            downloaded from a host. --channel names another channel than live.

            EXAMPLE
              assetvault cat level-one.avpack maps/start.json --keys file:vault.jwks
              assetvault cat levels/one map.json --site my-game/site \\
                --trust my-game/trusted-root.json --keys file:vault.jwks
            """)

    /// Number of names that are compared with a missing one.
    private static let comparedFiles = 10_000

    @OptionGroup var pack: PackArgument

    @Argument(help: ArgumentHelp("The file's path in the pack.", valueName: "path"))
    var path: String

    @OptionGroup var keys: KeyOptions

    func run() async throws {
        try await pack.read(with: try keys.required(), write)
    }

    private func write(_ source: OpenPack) async throws(VaultError) {
        guard let wanted = try? EntryPath(path), let entry = source.catalog.entry(at: wanted),
            entry.kind != .emptyFolder
        else {
            try requireNoFolder(in: source.catalog)
            let files = (0..<source.catalog.entryCount).lazy.prefix(Self.comparedFiles)
                .compactMap { source.catalog.entry($0)?.path.string }
            throw VaultError(
                .missing, "the pack has no such file", at: path,
                remedy: "list its files: \(GivenCommand.line(as: "inspect", without: [path]))"
            ).suggesting(path, among: files)
        }
        let output = try StandardStreams.output()
        try await source.read(entry.content) { part throws(VaultError) in try output.writeNext(part) }
    }

    private func requireNoFolder(in catalog: Catalog) throws(VaultError) {
        guard let folder = try? EntryPath(path), catalog.hasFolder(at: folder) else { return }
        throw VaultError(
            .missing, "is a folder", at: path,
            remedy: "name one of its files: \(GivenCommand.line(as: "inspect", without: [path]))")
    }
}
