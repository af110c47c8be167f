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
