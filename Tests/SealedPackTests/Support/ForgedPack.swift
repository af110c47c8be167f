import VaultBase

/// A pack of an attacker with the content key: encrypted and hashed correctly, but every value in it can be wrong.
struct ForgedPack {
    struct Piece {
        var message: [UInt8]
        var end: UInt64
        var digest: [UInt8]
    }

    struct Entry {
        var path: [UInt8]
        var kind: UInt8 = 1
        var zero: [UInt8] = [0, 0, 0]
        var end: UInt64
        /// A wrong end of the path in the table.
        var pathEnd: UInt32?
    }

    var key: TestKey
    var pieces: [Piece] = []
    var entries: [Entry] = []

    // Wrong values of the catalog.
    var codec: UInt8 = 0
    /// Encodes the catalog's bytes as codec and data, instead of codec 0 and the bytes.
    var packing: (@Sendable ([UInt8]) throws -> [UInt8])?
    var indexDigest: [UInt8]?
    var version: UInt64 = 1
    var id: [UInt8] = Array("levels/one".utf8)
    var idLength: UInt16?
    var zero: UInt16 = 0
    var pieceCount: UInt32?
    var entryCount: UInt32?
    var pathLength: UInt32?
    var behind: [UInt8] = []
    var missing = 0
    /// A wrong index.
    var index: [UInt8]?

    init(key: TestKey) { self.key = key }

    /// Files of the given bytes, a piece each.
    init(key: TestKey, files: [(path: String, bytes: [UInt8])]) {
        self.key = key
        for file in files { append(file.path, file.bytes) }
    }

    mutating func append(_ path: String, _ bytes: [UInt8], message: [UInt8]? = nil) {
        let end = (entries.last?.end ?? 0) + UInt64(bytes.count)
        entries.append(Entry(path: Array(path.utf8), end: end))
        guard !bytes.isEmpty else { return }
        pieces.append(Piece(message: message ?? [0] + bytes, end: end, digest: bytes.sha256))
    }

    var content: [UInt8] { pieces.flatMap { $0.message.dropFirst() } }

    private func catalog(indexDigest truth: [UInt8]) -> [UInt8] {
        var bytes = [codec] + (indexDigest ?? truth)
        bytes.appendInteger(version)
        bytes.appendInteger(idLength ?? UInt16(id.count))
        bytes.appendInteger(zero)
        bytes.appendInteger(pieceCount ?? UInt32(pieces.count))
        bytes.appendInteger(entryCount ?? UInt32(entries.count))
        let paths = entries.flatMap(\.path)
        bytes.appendInteger(pathLength ?? UInt32(paths.count))
        bytes += id
        for piece in pieces {
            bytes.appendInteger(piece.end)
            bytes += piece.digest
        }
        var pathEnd = 0
        for entry in entries {
            pathEnd += entry.path.count
            bytes.appendInteger(entry.pathEnd ?? UInt32(pathEnd))
            bytes += [entry.kind] + entry.zero
            bytes.appendInteger(entry.end)
        }
        return (bytes + paths + behind).dropLast(missing)
    }

    var parts: PackParts {
        get throws {
            var header = Self.magic
            header.appendInteger(UInt16(1))
            header.appendInteger(UInt16(1))
            header.appendInteger(UInt32(64))
            header += try key.derive("key-id", 16) + [UInt8](repeating: 0, count: 32)
            var parts = PackParts(
                header: header, pieces: try pieces.map { try key.piece($0.message) }, catalog: [])
            if let index { parts.index = index }
            let catalog = catalog(indexDigest: parts.index.sha256)
            parts.catalog = try key.message(
                packing?(Array(catalog.dropFirst())) ?? catalog,
                context: Array("assetvault/v1/catalog".utf8) + header, under: "catalog")
            return parts
        }
    }

    static let magic: [UInt8] = [0x89, 0x41, 0x56, 0x50, 0x0D, 0x0A, 0x1A, 0x0A]

    /// A manifest with the same wrong values.
    var manifest: JSONObject {
        get throws {
            try parts.manifest(
                id: String(decoding: id, as: UTF8.self), version: version, openedSize: entries.last?.end ?? 0,
                entries: entries.count)
        }
    }
}
