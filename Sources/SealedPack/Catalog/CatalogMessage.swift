import VaultBytes
import VaultContent
import VaultCrypto
package import VaultErrors
import VaultFileSystem

/// The catalog as a Cobblestone message, in a context that binds the header: codec 0 and the catalog's bytes, or codec
/// 1, their length as u32, and a zstd frame of them.
package enum CatalogMessage {
    private static let headLength = 5

    package static func context(header: PackHeader) -> [UInt8] {
        Array("assetvault/v1/catalog".utf8) + header.bytes
    }

    /// Makes the message from the parts of a catalog.
    package static func make(of parts: [[UInt8]]) throws(VaultError) -> [UInt8] {
        let count = parts.reduce(0) { $0 + $1.count }
        var message = [PieceCodec.zstd.rawValue]
        message.appendBigEndian(UInt32(truncatingIfNeeded: count))
        if try Zstd.compress(joining: parts, level: 3, appendingTo: &message),
            count <= FormatLimits.maximumCatalogExpansion * (message.count - headLength)
        {
            return message
        }
        message = [PieceCodec.uncompressed.rawValue]
        message.reserveCapacity(1 + count)
        for part in parts { message += part }
        return message
    }

    private static let blockCount = 64 * Cobblestone256.sealedChunkLength

    /// Reads and decrypts the catalog of `pack`. Throws `.corrupt` when its digest is not that of the footer.
    static func open(of pack: PackFile, key: ContentKey) throws(VaultError) -> [UInt8] {
        do throws(VaultError) {
            return try decrypt(pack, key)
        } catch {
            guard error.category == .corrupt, !error.needsNewerRelease else { throw error }
            throw VaultError(
                .corrupt, "the catalog is damaged: \(error.problem)", at: pack.place,
                remedy: "repair the pack, or fetch it again")
        }
    }

    private static func decrypt(_ pack: PackFile, _ key: ContentKey) throws(VaultError) -> [UInt8] {
        func refuse(_ problem: String) -> VaultError {
            VaultError(.corrupt, problem, at: pack.place, remedy: "repair the pack, or fetch it again")
        }
        let layout = pack.footer.layout
        guard let messageLength = Cobblestone256.messageLength(ofSealed: layout.catalogLength),
            messageLength > 0
        else {
            throw refuse("it has an impossible length")
        }
        let head = try pack.file.readExactly(Cobblestone256.headerLength, at: layout.catalogOffset)
        var digest = SHA256()
        digest.update(head.span)
        var opener = try Cobblestone256.Opener(
            header: head.span, context: context(header: pack.header), key: key.catalogKey)
        var message: [UInt8] = []
        message.reserveCapacity(Int(messageLength))
        var position = layout.catalogOffset + UInt64(Cobblestone256.headerLength)
        var block: [UInt8] = []
        var number: UInt64 = 0
        while position < layout.footerOffset {
            let count = Int(min(UInt64(blockCount), layout.footerOffset - position))
            guard try pack.file.read(into: &block, upTo: count, at: position) == count else {
                throw refuse("the pack is cut short")
            }
            digest.update(block.span)
            position += UInt64(count)
            var start = 0
            while start < count {
                let end = min(count, start + Cobblestone256.sealedChunkLength)
                try opener.openChunk(
                    block.span.extracting(start..<end), number: number,
                    isLast: position == layout.footerOffset && end == count, appendingTo: &message)
                number += 1
                start = end
            }
        }
        guard digest.finalize() == pack.footer.catalogDigest else {
            throw refuse("it has the wrong digest")
        }
        let codec = try PieceCodec(ofMessage: message, at: pack.place)
        switch codec {
        case .uncompressed:
            message.removeFirst()
            return message
        case .zstd:
            guard let count = message.span.bigEndian(UInt32.self, at: 1),
                count <= FormatLimits.maximumCatalogLength,
                Int(count) <= FormatLimits.maximumCatalogExpansion * (message.count - headLength)
            else { throw refuse("it states an impossible length") }
            return Array(try codec.decode(message, from: headLength, exactly: Int(count)))
        }
    }
}
