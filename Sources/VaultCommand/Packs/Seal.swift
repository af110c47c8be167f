public import ArgumentParser
public import SealedPack
import SystemPackage
import VaultAuthoring
import VaultBase
import VaultFileSystem

struct Seal: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal",
        abstract: "Seal a folder or archive as an encrypted pack.",
        discussion: """
            Writes the pack and, beside it, its manifest PACK.json, which holds the content key wrapped for \
            every vault key that --keys yields. Links and devices are refused. With --previous the earlier \
            version's content key is kept and its unchanged pieces are reused, so that clients fetch only \
            what changed; the same content gives the same bytes. Without it the content key is random: two \
            first sealings of one content differ.

            EXAMPLE
              assetvault seal level-one -o level-one.avpack --keys file:vault.jwks
              tar c level-one | assetvault seal - -o one.avpack --id one --keys env:KEY
              assetvault seal one -o again.avpack --previous one.avpack --keys env:KEY
            """)

    @Argument(
        help: ArgumentHelp(
            "A folder, an archive (zip, tar, 7z), or - for a tar on standard input.", valueName: "source"),
        completion: .file())
    var source: String

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp("The pack to make; - for standard output.", valueName: "pack"), completion: .file()
    )
    var output: String

    @OptionGroup var keys: KeyOptions

    @Option(help: "The pack's ID; by default the previous pack's, else the source's name.")
    var id: String?

    @Option(
        help: ArgumentHelp("An earlier version, its manifest beside it.", valueName: "pack"),
        completion: .file())
    var previous: String?

    @Option(
        help: ArgumentHelp(
            """
            The version to give; by default 1, or after --previous its version, one more if the content \
            changed.
            """,
            valueName: "n"))
    var packVersion: UInt64?

    @Option(help: ArgumentHelp("Where to write the manifest, if not beside the pack.", valueName: "file"))
    var manifest: String?

    @OptionGroup var sealing: SealingOptions

    @Flag(help: "Pack what links point to, instead of refusing them.")
    var followLinks = false

    @OptionGroup var progress: ProgressOption

    @Flag(help: "Overwrite existing files.")
    var force = false

    @Flag(help: "Print the manifest on standard output.")
    var json = false

    func validate() throws {
        if output == "-", manifest == nil { throw ValidationError("-o - needs --manifest FILE") }
        if manifest == "-" { throw ValidationError("--manifest takes a file; --json prints it") }
        if output == "-", json { throw ValidationError("-o - and --json both want standard output") }
    }

    func run() async throws {
        let provider = try keys.required()
        var earlier: OpenPack?
        if let previous { earlier = try await LocalPack(path: FilePath(previous)).opened(with: provider) }
        let packID =
            try id.map { text throws(VaultError) in try PackID(text) }
            ?? earlier?.id ?? PackID(suggestedFor: source)
        let choice = try await ContentKeyChoice(following: earlier?.manifest, keys: provider)
        let versioning = packVersion.map { PackVersioning.exactly($0) } ?? .following()
        let order = SealingRequest(
            id: packID, versioning: versioning, key: choice.key, slots: choice.slots,
            offer: earlier?.manifest?.offer ?? PackOffer(), compression: sealing.compression ?? .standard,
            previous: earlier)
        let result = try await output == "-" ? sealToStandardOutput(order) : sealToFile(order)
        if json {
            Console.answer(bytes: PackManifestFile.bytes(of: result.manifest))
        } else {
            Console.note(
                "sealed \(packID) version \(result.manifest.version): \(result.manifest.length) bytes in "
                    + "\(result.manifest.pieceCount.counting("piece")), \(result.reusedPieces) reused")
        }
    }

    private func sealToFile(_ order: SealingRequest) async throws(VaultError) -> SealingResult {
        let pack = FilePath(output)
        try OutputCheck.removeAbandonedScratch(beside: pack)
        let target = try PackFileSealing(
            pack: pack, manifest: manifest.map { FilePath($0) }, replacing: force)
        let source = try openSource(beside: pack)
        let bar = ProgressBar()
        defer { bar.finish() }
        let show = bar.begin("sealing", of: source.folder.entries.saturatingSum(\.size))
        return try await target.run(order, source.folder, progress: show)
    }

    private func sealToStandardOutput(_ order: SealingRequest) async throws(VaultError) -> SealingResult {
        let manifest = FilePath(manifest ?? "")
        try OutputCheck.requireWritableFile(manifest, replacing: force)
        let source = try openSource(beside: manifest)
        let bar = ProgressBar()
        defer { bar.finish() }
        let show = bar.begin("sealing", of: source.folder.entries.saturatingSum(\.size))
        let output = OpenFileReference(try StandardStreams.output())
        let result = try await order.seal(source.folder, into: output, progress: show)
        try DurableFile.write(
            PackManifestFile.bytes(of: result.manifest).span, to: manifest, permissions: 0o644,
            replacing: force)
        return result
    }

    private func openSource(beside place: FilePath) throws(VaultError) -> PackSource {
        guard source != "-" else {
            return try PackSource(
                unpacking: try StandardStreams.input(), beside: place, limit: sealing.unpackingLimit)
        }
        return try PackSource(
            FilePath(source), unpackingBeside: place, followLinks: followLinks, limit: sealing.unpackingLimit)
    }
}

extension PackID {
    /// The source's name without an archive's ending, in lower case.
    fileprivate init(suggestedFor source: String) throws(VaultError) {
        guard source != "-" else {
            throw VaultError(
                .usage, "standard input has no name to call the pack by", at: "-", remedy: "give --id ID")
        }
        var name = FilePath(source).lexicallyNormalized().lastComponent?.string.lowercased() ?? ""
        for ending in [".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2", ".tgz", ".tar", ".zip", ".7z"]
        where name.hasSuffix(ending) {
            name.removeLast(ending.count)
            break
        }
        do throws(VaultError) { try self.init(name) } catch {
            throw VaultError(
                .usage, "its name '\(name)' can't be a pack's ID: \(error.problem)", at: source,
                remedy: "give one with --id ID")
        }
    }
}

extension Compression: ExpressibleByArgument {}

/// How sources are read and compressed.
struct SealingOptions: ParsableArguments {
    @Option(
        help: """
            How hard to compress what is sealed anew: 'max' takes many times as long, and 90 MB of memory a core; \
            it is for what is sealed once and downloaded often. Unchanged pieces of an earlier version stay as \
            they are.
            """)
    var compression: Compression?

    @Option(
        help: ArgumentHelp(
            """
            The most bytes that an archive unpacks to, such as 20GB or 64GiB. The default is 64 GiB, and no more \
            than 100 times the archive's length unless that is below 256 MiB.
            """, valueName: "bytes"))
    var maxUnpacked: ByteCount?

    var unpackingLimit: UnpackingLimit { maxUnpacked.map { UnpackingLimit(total: $0.bytes) } ?? .standard }
}
