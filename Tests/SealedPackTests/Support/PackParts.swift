import VaultBase
import VaultCrypto

/// The parts of a pack, which can be changed and joined with a matching footer.
struct PackParts {
    var header: [UInt8]
    var pieces: [[UInt8]]
    var index: [UInt8]
    var catalog: [UInt8]
    /// A footer to use unchanged.
    var footer: [UInt8]?

    init(header: [UInt8], pieces: [[UInt8]], catalog: [UInt8]) {
        self.header = header
        self.pieces = pieces
        self.catalog = catalog
        index = []
        rewriteIndex()
    }

    init(of pack: [UInt8]) {
        let end = pack.count - 128
        footer = Array(pack[end...])
        let indexOffset = Int(pack.integer(UInt64.self, at: end))
        let catalogOffset = Int(pack.integer(UInt64.self, at: end + 16))
        header = Array(pack[..<64])
        index = Array(pack[indexOffset..<catalogOffset])
        catalog = Array(pack[catalogOffset..<end])
        pieces = []
        var offset = 64
        for record in stride(from: 0, to: index.count, by: 36) {
            let count = Int(index.integer(UInt32.self, at: record))
            pieces.append(Array(pack[offset..<(offset + count)]))
            offset += count
        }
    }

    /// Sets the index of the pieces.
    mutating func rewriteIndex() {
        index = []
        for piece in pieces {
            index.appendInteger(UInt32(piece.count))
            index += piece.sha256
        }
    }

    /// The joined parts with a matching footer.
    var refooted: [UInt8] {
        var parts = self
        parts.footer = nil
        return parts.bytes
    }

    var bytes: [UInt8] {
        let body = header + pieces.flatMap { $0 }
        return body + index + catalog + (footer ?? matchingFooter(indexOffset: body.count))
    }

    private func matchingFooter(indexOffset: Int) -> [UInt8] {
        var footer: [UInt8] = []
        footer.appendInteger(UInt64(indexOffset))
        footer.appendInteger(UInt32(index.count / 36))
        footer.appendInteger(UInt32(0))
        footer.appendInteger(UInt64(indexOffset + index.count))
        footer.appendInteger(UInt64(catalog.count))
        footer += index.sha256 + catalog.sha256 + [UInt8](repeating: 0, count: 24) + header.prefix(8)
        return footer
    }

    /// The target object that describes exactly this pack.
    func manifest(id: String, version: UInt64, openedSize: UInt64, entries: Int = 0) -> JSONObject {
        let bytes = bytes
        let vault: JSONObject = [
            "format": 1, "id": .string(id), "version": .integer(Int64(clamping: version)),
            "policy": "prefetch",
            "tags": .array([]), "traits": .object([:]), "openedSize": .integer(Int64(clamping: openedSize)),
            "contentKeyID": .string(Base64URL.encode(header.span.extracting(16..<32))),
            "pieces": .integer(Int64(index.count / 36)), "entries": .integer(Int64(entries)),
            "index": [
                "length": .integer(Int64(index.count)), "sha256": .string(SHA256.hash(index.span).hex),
            ],
            "catalog": [
                "length": .integer(Int64(catalog.count)), "sha256": .string(SHA256.hash(catalog.span).hex),
            ],
            "slots": .array([]),
        ]
        return [
            "length": .integer(Int64(bytes.count)),
            "hashes": ["sha256": .string(SHA256.hash(bytes.span).hex)],
            "custom": ["assetvault": .object(vault)],
        ]
    }
}
