import SealedPack
import SystemPackage
import TestFiles
import VaultBase
import VaultFileSystem

/// Packs of one test, as files.
struct PackFolder {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    func file(_ name: String, _ bytes: [UInt8]) throws -> PackFile {
        try PackFile(opening: try folder.write(name, bytes), as: nil)
    }

    /// A pack with one file for each piece; equal pieces seal to equal bytes in every pack.
    func pack(_ name: String, _ pieces: [[UInt8]]) throws -> (file: PackFile, parts: PackParts) {
        var forged = ForgedPack(key: TestKey())
        for (number, piece) in pieces.enumerated() { forged.append("file \(number)", piece) }
        let parts = try forged.parts
        return (try file(name, parts.bytes), parts)
    }

    /// An assembly in the file `part`, whose tail was received and is not yet verified.
    func assembly(of parts: PackParts, version: UInt64 = 1) throws -> PackAssembly {
        let json = parts.manifest(id: "levels/one", version: version, openedSize: 1)
        let pack = try PackManifest(parsing: json, place: "test")
        let file = try OpenFile(creating: folder.path.appending("part"), permissions: 0o600)
        var assembly = try PackAssembly(OpenFileReference(file), of: pack)
        let tail = parts.index + parts.catalog
        try assembly.receiveUnverified(tail.span, at: UInt64(parts.refooted.count - 128 - tail.count))
        return assembly
    }
}

extension PackParts {
    var tailLength: Int { index.count + catalog.count }
    /// The byte range of a piece.
    func place(_ number: Int) -> Range<Int> {
        let start = 64 + pieces[..<number].reduce(0) { $0 + $1.count }
        return start..<(start + pieces[number].count)
    }
}
