import ArgumentParser
import SealedPack
import StrictJSON
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultErrors
import VaultKeys

struct Publish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Seal what changed and write the signed site.",
        discussion: """
            Packs are declared in vault.json; --pack declares one more and saves it. Upload site/ in this order: \
            targets/ first, then metadata/, timestamp.json last.

            EXAMPLE
              assetvault publish my-game --pack levels/one=../assets/level-one
            """)

    @Argument(help: ArgumentHelp("The vault.", valueName: "vault"))
    var vault: String

    @Option(
        name: .customLong("pack"),
        help: ArgumentHelp(
            "Declare a pack; its source is a folder or archive, relative to here.", valueName: "id=source"))
    var declarations: [String] = []

    @OptionGroup var keys: KeyOptions

    @Flag(help: "Print a report as JSON.")
    var json = false

    func run() async throws {
        let folder = VaultFolder(FilePath(vault))
        var settings = try VaultSettings(reading: folder.settings)
        for declaration in declarations {
            let parts = declaration.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw VaultError(
                    .usage, "'\(declaration)' names no source", at: "--pack", remedy: "write --pack ID=SOURCE"
                )
            }
            try settings.declare(
                try PackID(parts[0]), source: try FilePath(parts[1]).relative(to: folder.path))
        }
        if !declarations.isEmpty { try settings.write(to: folder.settings) }
        let provider = try keys.provider() ?? FileKeyProvider(path: folder.vaultKeys)
        let report = try await Publication(of: folder, settings, keys: provider, now: .now).run()
        if json { return Talk.answer(bytes: JSONValue.object(report.json).pretty()) }
        for pack in report.packs {
            let reuse = pack.reusedPieces > 0 ? ", \(pack.reusedPieces) reused" : ""
            Talk.answer(
                "\(pack.change.rawValue)  \(pack.id)  version \(pack.version)  \(pack.length) bytes, \(pack.pieces) pieces\(reuse)"
            )
        }
        Talk.note(
            report.written.isEmpty
                ? "nothing changed"
                : "wrote \(report.written.joined(separator: ", ")); upload targets/ first, timestamp.json last"
        )
    }
}

extension PublicationReport {
    fileprivate var json: JSONObject {
        [
            "packs": .array(
                packs.map { pack in
                    [
                        "id": .string(pack.id.description),
                        "version": .integer(Int64(clamping: pack.version)),
                        "change": .string(pack.change.rawValue),
                        "length": .integer(Int64(clamping: pack.length)),
                        "pieces": .integer(Int64(pack.pieces)),
                        "reusedPieces": .integer(Int64(pack.reusedPieces)),
                    ]
                }),
            "written": .array(written.map { .string($0) }),
        ]
    }
}
