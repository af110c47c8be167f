import VaultErrors

extension PieceStates {
    /// Marks pieces as present that are in the indexes of other packs.
    ///
    /// - Parameter next: returns the other packs one by one; not called when no piece is missing any more.
    mutating func notePieces(
        of pack: PackFile, in next: () throws(VaultError) -> (any PieceSource)?
    ) throws(VaultError) {
        guard missingCount > 0 else { return }
        let wanted = try PiecesByDigest(of: pack, where: isMissing)
        while missingCount > 0, let other = try next() {
            try? other.pack.forEachIndexRecord { otherNumber, record, offset throws(VaultError) in
                guard other.has(piece: otherNumber, at: offset..<(offset + UInt64(record.ciphertextLength)))
                else { return }
                if let number = try wanted.first(with: record.digest) { notePresent(number) }
            }
        }
    }
}
