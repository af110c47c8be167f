import ArgumentParser
import SealedPack
import StrictJSON
import VaultArchive
import VaultErrors
import VaultKeys

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
        var source: OpenPack?
        if let provider = try keys.provider() { source = try await pack.local().unlock(provider) }
        let file = if let source { source.pack } else { try await pack.local().open() }
        var report: JSONObject = [
            "length": .integer(Int64(clamping: file.length)),
            "pieces": .integer(Int64(file.pieceCount)),
            "contentKeyID": .string(file.contentKeyID.description),
        ]
        if let manifest = file.manifest { report["manifest"] = .object(manifest.json) }
        if let source {
            report["id"] = .string(source.id.description)
            report["version"] = .integer(Int64(clamping: source.version))
            report["openedSize"] = .integer(Int64(clamping: source.catalog.contentLength))
            if json {
                report["files"] = .array(
                    (0..<source.catalog.entryCount).compactMap { source.catalog.entry($0)?.json })
            }
        }
        if json { return Console.answer(bytes: JSONValue.object(report).pretty()) }
        show(file, source)
    }

    private func show(_ file: PackFile, _ source: OpenPack?) {
        Console.answer("pack          \(pack.pack)")
        Console.answer("length        \(file.length) bytes in \(file.pieceCount.counting("piece"))")
        Console.answer("content key   \(file.contentKeyID)")
        if let manifest = file.manifest {
            Console.answer(
                "pack ID       \(manifest.id), version \(manifest.version), \(manifest.offer.policy.rawValue)"
            )
            Console.answer("opened size   \(manifest.openedSize) bytes")
            Console.answer("sealed for    \(manifest.slots.map(\.keyID.description).joined(separator: ", "))")
        } else if let source {
            Console.answer("pack ID       \(source.id), version \(source.version)")
            Console.answer("manifest    none")
        } else {
            Console.answer("manifest    none: ID and version stand in the encrypted catalog")
        }
        guard let source else { return }
        for index in 0..<source.catalog.entryCount {
            guard let entry = source.catalog.entry(index) else { continue }
            let kind =
                switch entry.kind {
                case .emptyFolder: "d"
                case .file: "-"
                case .executable: "x"
                }
            let size = String(entry.size)
            Console.answer(
                "\(kind) \(String(repeating: " ", count: max(0, 12 - size.count)))\(size)  \(entry.path.string)"
            )
        }
    }
}

extension Catalog.Entry {
    fileprivate var json: JSONValue {
        let kind =
            switch self.kind {
            case .emptyFolder: "folder"
            case .file: "file"
            case .executable: "executable"
            }
        return ["path": .string(path.string), "kind": .string(kind), "size": .integer(Int64(clamping: size))]
    }
}
