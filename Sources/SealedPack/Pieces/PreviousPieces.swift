import VaultBytes
import VaultCrypto
import VaultErrors

/// Finds pieces of the previous version by the digest of their plaintext: 4 bytes a piece.
package struct PreviousPieces: Sendable {
    private let previous: OpenPack
    /// Piece numbers, sorted by plaintext digest.
    private let order: [UInt32]

    package init(_ previous: OpenPack) {
        self.previous = previous
        let catalog = previous.catalog
        order = (0..<UInt32(catalog.pieceCount)).sorted { left, right in
            catalog.digestBytes(Int(left)).lexicographicallyPrecedes(catalog.digestBytes(Int(right)))
        }
    }

    /// The piece whose plaintext has this digest.
    func piece(of digest: SHA256Digest) -> Int? { find(digest.bytes) }

    /// SHA-256 of a piece's ciphertext, from the index.
    func digest(ofPiece number: Int) throws(VaultError) -> SHA256Digest {
        try previous.pack.digest(ofPiece: number)
    }

    /// The ciphertext of a piece with exactly this plaintext. It is decrypted and compared first, as it may be missing,
    /// and an author with the content key could have made a catalog that describes it wrongly.
    func ciphertext(ofPiece number: Int, holding plain: [UInt8]) throws(VaultError) -> [UInt8]? {
        let ciphertext = try previous.ciphertext(ofPiece: number)
        guard let opened = try? previous.plaintext(ofPiece: number, ciphertext: ciphertext),
            opened == plain[...]
        else {
            return nil
        }
        return ciphertext
    }

    private func find(_ digest: [UInt8]) -> Int? {
        let first = order.indices.partitionPoint {
            !previous.catalog.digestBytes(Int(order[$0])).lexicographicallyPrecedes(digest)
        }
        guard first < order.count, previous.catalog.digestBytes(Int(order[first])).elementsEqual(digest)
        else {
            return nil
        }
        return Int(order[first])
    }
}
