import SealedPack
import StrictJSON
import VaultContent
import VaultErrors
import VaultKeys

/// What is known of one pack on this machine.
struct PackDetails: Report {
    let name: String
    let file: PackFile
    /// Nil without its key.
    let opened: OpenPack?

    private var entries: [Catalog.Entry] {
        guard let catalog = opened?.catalog else { return [] }
        return (0..<catalog.entryCount).compactMap { catalog.entry($0) }
    }

    var lines: [String] {
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
        } else if let opened {
            lines += ["pack ID       \(opened.id), version \(opened.version)", "manifest      none"]
        } else {
            lines.append("manifest      none: ID and version stand in the encrypted catalog")
        }
        return lines + entries.map { "\($0.mark) \(Self.aligned($0.size))  \($0.path.string)" }
    }

    var json: JSONObject {
        var json: JSONObject = [
            "length": .number(file.length), "pieces": .number(file.pieceCount),
            "contentKeyID": "\(file.contentKeyID)",
        ]
        if let manifest = file.manifest { json["manifest"] = .object(manifest.json) }
        if let opened {
            json["id"] = "\(opened.id)"
            json["version"] = .number(opened.version)
            json["openedSize"] = .number(opened.catalog.contentLength)
            json["files"] = .objects(entries) {
                ["path": .string($0.path.string), "kind": .string($0.word), "size": .number($0.size)]
            }
        }
        return json
    }

    private static func aligned(_ size: UInt64) -> String {
        String(repeating: " ", count: max(0, 12 - "\(size)".count)) + "\(size)"
    }
}

extension Catalog.Entry {
    fileprivate var mark: String {
        switch kind {
        case .emptyFolder: "d"
        case .file: "-"
        case .executable: "x"
        }
    }

    fileprivate var word: String {
        switch kind {
        case .emptyFolder: "folder"
        case .file: "file"
        case .executable: "executable"
        }
    }
}
