import ArgumentParser
import AssetVault
import SealedPack
import VaultBase
import VaultCrypto
import VaultFileSystem

struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show the header and manifest of a pack; with a key, also its files.",
        discussion: """
            Reads header and footer, with a key the catalog too; whether every piece
            is sound, 'assetvault audit' reports.

            EXAMPLE
              assetvault inspect level-one.avpack
              assetvault inspect level-one.avpack --keys file:vault.jwks --json
            """)

    @OptionGroup var pack: PackArgument
    @OptionGroup var keys: KeyOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        var opened: OpenPack?
        if let keys = try keys.cachedProvider() { opened = try await pack.readPart(with: keys) { $0.opened } }
        let file = if let opened { opened.pack } else { try await pack.partialFile() }
        PackDetails(name: pack.pack, file: file, opened: opened).answer(asJSON: json)
    }
}

/// The description of one pack on this machine.
struct PackDetails: Report {
    let name: String
    let file: PackFile
    /// Nil without its key.
    let opened: OpenPack?

    private var entries: [Catalog.Entry]? {
        guard let catalog = opened?.catalog else { return nil }
        return (0..<catalog.entryCount).compactMap { catalog.entry($0) }
    }

    var columns: [Column<Self>] {
        [
            .lines { $0.overview }, .number("length") { $0.file.length },
            .number("pieces") { $0.file.pieceCount }, .text("contentKeyID") { $0.file.contentKeyID },
            .object("manifest") { $0.file.manifest?.json }, .text("id") { $0.opened?.id },
            .number("version") { $0.opened?.version },
            .number("openedSize") { $0.opened?.catalog.contentLength },
            .table("files", Self.fileColumns) { $0.entries },
        ]
    }

    private static var fileColumns: [Column<Catalog.Entry>] {
        [
            .text("kind") { $0.kind.name }, .words { $0.kind.mark }, .number("size") { $0.size },
            .words(" %") { aligned($0.size) },
            .text("path", "%") { $0.path.string },
        ]
    }

    private var overview: [String] {
        var lines = [
            "pack          \(name)",
            "length        \(file.length) bytes in \(file.pieceCount.counting("piece"))",
            "content key   \(file.contentKeyID)",
        ]
        if let manifest = file.manifest {
            lines += [
                "pack ID       \(manifest.id), version \(manifest.version), \(manifest.offer.policy.rawValue)",
                "opened size   \(manifest.openedSize) bytes",
                "sealed for    \(manifest.slots.map(\.keyID.description).joined(separator: ", "))",
            ]
            if manifest.first.count > 0 {
                lines.append("downloads     \(manifest.first.count.counting("piece")) before the others")
            }
        } else if let opened {
            lines += ["pack ID       \(opened.id), version \(opened.version)", "manifest      none"]
        } else {
            lines.append("manifest      none: ID and version stand in the encrypted catalog")
        }
        return lines
    }

    private static func aligned(_ size: UInt64) -> String {
        String(repeating: " ", count: max(0, 12 - "\(size)".count)) + "\(size)"
    }
}

extension PackEntryKind {
    fileprivate var mark: String {
        switch self {
        case .emptyFolder: "d"
        case .file: "-"
        case .executable: "x"
        }
    }

    fileprivate var name: String {
        switch self {
        case .emptyFolder: "folder"
        case .file: "file"
        case .executable: "executable"
        }
    }
}

struct Cat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Print one file of a sealed pack; only its own pieces are read.",
        discussion: """
            The pack is a file, or with --site the ID of one that the site lists: of a pack at a host only the \
            pieces of the file come. --channel names another channel than live. With --store, too, it is read as \
            an app does it: from the store as far as the pack is loaded or has arrived there, also while it is \
            downloaded; only what is missing of the file is downloaded.

            EXAMPLE
              assetvault cat level-one.avpack maps/start.json --keys file:vault.jwks
              assetvault cat levels/one map.json --site my-game/site \\
                --trust my-game/trusted-root.json --keys file:vault.jwks
              assetvault cat levels/one map.json --site https://cdn.example.com/game \\
                --trust trusted-root.json --store ~/.game --keys env:GAME_KEY
            """)

    /// Number of names that are compared with a missing one.
    private static let comparedFiles = 10_000

    @OptionGroup var pack: PackArgument

    @Argument(help: ArgumentHelp("The file's path in the pack.", valueName: "path"))
    var path: String

    @Option(
        help: ArgumentHelp("A client's store, which may have a part of the pack.", valueName: "dir"),
        completion: .directory)
    var store: String?

    @OptionGroup var keys: KeyOptions

    func validate() throws {
        if store != nil, pack.manifestOptions.site == nil { throw ValidationError("--store needs --site") }
    }

    func run() async throws {
        if let store { return try await write(pack.early(in: store, with: keys.required())) }
        try await pack.readPart(with: try keys.required(), write)
    }

    /// Bytes that are read at a time.
    private static let part: UInt64 = 8 << 20

    private func write(_ pack: EarlyPack) async throws(VaultError) {
        let size = try await pack.size(of: path)
        let output = try StandardStreams.output()
        var start: UInt64 = 0
        while start < size {
            let end = min(size, start + Self.part)
            let bytes = try await pack.bytes(path, in: start..<end)
            try output.writeNext(bytes.span)
            start = end
        }
    }

    private func write(_ part: PackPart) async throws(VaultError) {
        let source = part.opened
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
        try await part.read(entry.content) { bytes throws(VaultError) in try output.writeNext(bytes) }
    }

    private func requireNoFolder(in catalog: Catalog) throws(VaultError) {
        guard let folder = try? EntryPath(path), catalog.hasFolder(at: folder) else { return }
        throw VaultError(
            .missing, "is a folder", at: path,
            remedy: "name one of its files: \(GivenCommand.line(as: "inspect", without: [path]))")
    }
}
