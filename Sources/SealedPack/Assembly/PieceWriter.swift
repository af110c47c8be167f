import VaultCrypto
import VaultErrors
import VaultFileSystem

/// Writes verified pieces to a pack's file, several at once.
struct PieceWriter: Sendable {
    let pack: PackFile
    let ranges: PieceRanges
    let copies: DuplicatePieces?

    /// Writes a piece and its copies if its bytes have the digest of the verified index. Returns the numbers of the
    /// pieces written, none for other bytes. Throws `.io`.
    func write(_ ciphertext: Span<UInt8>, as number: Int) throws(VaultError) -> [Int] {
        guard try SHA256.hash(ciphertext) == pack.digest(ofPiece: number) else { return [] }
        let numbers = [number] + (copies?.copies(of: number) ?? [])
        for number in numbers { try pack.file.write(ciphertext, at: ranges[number].lowerBound) }
        return numbers
    }
}
