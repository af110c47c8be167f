import VaultCrypto
import VaultErrors
import VaultFileSystem

/// Puts pieces where they belong in a pack's file, once they have verified what they are; several at once.
struct PieceWriter: Sendable {
    let pack: PackFile
    let places: PiecePlaces
    let copies: DuplicatePieces?

    /// Writes a piece, and its copies, if its bytes have the digest of the index, which must have been verified. Returns the
    /// numbers of those that are there now: none for other bytes. Throws `.io`.
    func write(_ ciphertext: Span<UInt8>, as number: Int) throws(VaultError) -> [Int] {
        guard try SHA256.hash(ciphertext) == pack.digest(ofPiece: number) else { return [] }
        let numbers = [number] + (copies?.copies(of: number) ?? [])
        for number in numbers { try pack.file.write(ciphertext, at: places[number].lowerBound) }
        return numbers
    }
}
