import SystemPackage
import VaultConcurrency
import VaultCrypto
public import VaultErrors

extension OpenedTreePieces {
    /// Verifies every byte of the tree by the pack's catalog: nothing is missing, changed or added, and no other user
    /// may change it. Throws `.corrupt` at the first difference, and the errors of reading.
    public func requireSound() async throws(VaultError) {
        var comparison = try TreeComparison(with: root)
        for index in 0..<catalog.entryCount {
            // A verified catalog has no such entry; if it had, the check must not pass over it.
            guard let entry = catalog.entry(index) else {
                throw VaultError(
                    .corrupt, "entry \(index) of the catalog can't be read", at: pack.place,
                    remedy: "fetch the pack again")
            }
            try comparison.beginEntry(entry)
            comparison.skipContent()
        }
        try comparison.finish()
        try await runInOrder(
            0..<catalog.pieceCount, memory: { 2 * catalog.pieceRange($0).count },
            work: { (number: Int) throws(VaultError) -> Void in _ = try verifiedPlaintext(ofPiece: number) },
            deliver: { (_: Void) in })
    }
}
