import ArgumentParser
import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

struct Open: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open a pack into a folder, or as a tar.",
        discussion: """
            The folder appears only when every byte was decrypted and verified. The content key comes from \
            the manifest beside the pack, or from --manifest, or from a site's signed metadata. Files get \
            mode 0644 or 0755, limited by the umask.

            With --consume the disk needs no room for both the pack and the folder: the space of what was opened \
            is freed in the pack, and at the end the pack is removed; its manifest stays. Until then the files are \
            in a hidden folder beside the output. Killed, the same command continues.

            EXAMPLE
              assetvault open level-one.avpack -o level-one --keys file:vault.jwks
              assetvault open level-one.avpack -o level-one --consume \\
                --keys file:vault.jwks
              assetvault open level-one.avpack --tar - --keys file:vault.jwks | tar t
            """)

    @OptionGroup var pack: PackArgument

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp("The folder to make; new or empty.", valueName: "dir"), completion: .directory)
    var output: String?

    @Option(
        help: ArgumentHelp("Write a pax tar instead; - for standard output.", valueName: "file"),
        completion: .file())
    var tar: String?

    @Flag(help: "Free the pack piece by piece while it is opened, and remove it at the end.")
    var consume = false

    @OptionGroup var keys: KeyOptions

    @OptionGroup var progress: ProgressOption

    @Flag(help: "Overwrite an existing tar file.")
    var force = false

    @Flag(help: "Print JSON: what was opened, and where it is.")
    var json = false

    func validate() throws {
        if (output == nil) == (tar == nil) { throw ValidationError("give either -o DIR or --tar FILE") }
        if output != nil, force { throw ValidationError("--force overwrites tar files, never folders") }
        if consume, output == nil { throw ValidationError("--consume opens into a folder: give -o DIR") }
        if tar == "-", json { throw ValidationError("--tar - and --json both want standard output") }
    }

    func run() async throws {
        if let output, !consume { try OutputCheck.requireNewFolder(FilePath(output)) }
        if let tar, tar != "-" { try OutputCheck.requireWritableFile(FilePath(tar), replacing: force) }
        try await pack.read(with: try keys.required()) { source throws(VaultError) in
            try await write(source)
            answer(source)
        }
    }

    private func answer(_ source: OpenPack) {
        guard json else { return }
        Console.answer(json: [
            "id": "\(source.id)", "version": .number(source.version),
            "entries": .number(source.catalog.entryCount),
            "openedSize": .number(source.catalog.contentLength), "output": .string(output ?? tar ?? ""),
        ])
    }

    private func write(_ source: OpenPack) async throws(VaultError) {
        let bar = ProgressBar()
        defer { bar.finish() }
        let show = bar.begin("opening", of: source.catalog.contentLength)
        if let output, consume {
            let opening = ConsumingOpening(
                pack: FilePath(pack.pack), target: FilePath(output).withoutTrailingSlash)
            return try await opening.run(source, progress: show)
        }
        if let output { return try await open(source, into: FilePath(output), show) }
        guard let tar, tar != "-" else {
            return try await writeTar(of: source, to: try StandardStreams.output(), show)
        }
        let scratch = try ScratchFile(for: FilePath(tar))
        let file = try OpenFile(duplicating: scratch.file.descriptor, named: FilePath(tar))
        try await writeTar(of: source, to: file, show)
        try scratch.commit(permissions: Umask.current.applied(to: 0o644), replacing: force)
    }

    private func open(_ source: OpenPack, into target: FilePath, _ show: (UInt64) -> Void)
        async throws(VaultError)
    {
        let tree = try ScratchFolder(beside: target.withoutTrailingSlash)
        try await source.extract(into: tree.folder, .writable, progress: show)
        try tree.commit(
            to: target.withoutTrailingSlash, permissions: Umask.current.applied(to: 0o755),
            replacingEmptyFolder: true)
    }

    private func writeTar(of source: OpenPack, to file: consuming OpenFile, _ show: (UInt64) -> Void)
        async throws(VaultError)
    {
        var sink = try PaxWriter(to: file)
        try await source.extract(to: &sink, progress: show)
        try sink.finish()
    }
}

extension FilePath {
    /// `DIR/` names the same folder as `DIR`; `FilePath` drops the slash when it takes the path apart.
    var withoutTrailingSlash: FilePath {
        lastComponent.map { removingLastComponent().appending($0) } ?? self
    }
}

/// Checks of outputs: files are overwritten only when asked to, folders never.
enum OutputCheck {
    /// Throws unless the folder is absent or empty.
    static func requireNewFolder(_ path: FilePath) throws(VaultError) {
        try removeAbandonedScratch(beside: path.withoutTrailingSlash)
        guard let status = try FileSystem.status(of: path, followingLinks: true) else { return }
        guard status.kind == .folder, try Folder(opening: path).names().isEmpty else {
            throw VaultError(
                .unwritable, "it exists already and is not an empty folder", at: path.string,
                remedy: "choose a new or empty folder")
        }
    }

    /// Throws unless the file is absent, or a regular file that may be replaced. Scratch that killed runs left beside
    /// it is removed.
    static func requireWritableFile(_ path: FilePath, replacing: Bool) throws(VaultError) {
        try removeAbandonedScratch(beside: path)
        try DurableFile.requireWritable(path, replacing: replacing)
    }

    /// A living process has its scratch locked, so only abandoned scratch is removed.
    static func removeAbandonedScratch(beside path: FilePath) throws(VaultError) {
        let folder = path.removingLastComponent()
        guard let folder = try? Folder(opening: folder.isEmpty ? "." : folder) else { return }
        _ = try? folder.removeAbandonedScratch()
    }
}
