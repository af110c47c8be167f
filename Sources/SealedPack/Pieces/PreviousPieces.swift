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
    func piece(of digest: SHA256Digest) -> Int? {
        let first = order.indices.partitionPoint {
            !previous.catalog.digestBytes(Int(order[$0])).lexicographicallyPrecedes(digest.bytes)
        }
        guard first < order.count else { return nil }
        let number = Int(order[first])
        return previous.catalog.digestBytes(number).elementsEqual(digest.bytes) ? number : nil
    }

    /// SHA-256 of a piece's ciphertext, from the index.
    func digest(ofPiece number: Int) throws(VaultError) -> SHA256Digest {
        try previous.pack.digest(ofPiece: number)
    }

    /// A piece's ciphertext. It is decrypted first and its plaintext verified, as it may be damaged, and an author with the
    /// content key could have made a catalog that describes it wrongly: nil then.
    func verifiedCiphertext(ofPiece number: Int) throws(VaultError) -> [UInt8]? {
        let ciphertext = try previous.ciphertext(ofPiece: number)
        let isSound = (try? previous.plaintext(ofPiece: number, ciphertext: ciphertext)) != nil
        return isSound ? ciphertext : nil
    }
}
