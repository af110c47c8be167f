import SystemPackage
import VaultConcurrency
import VaultCrypto
public import VaultErrors

extension OpenedTree {
    /// Reads every byte of the tree and holds it against the pack's catalog: nothing is missing, changed or added, and nobody
    /// else may change it. Throws `.corrupt` at the first difference, and what keeps it from being read.
    public func requireSound() async throws(VaultError) {
        var comparison = try TreeComparison(with: root)
        for index in 0..<catalog.entryCount {
            guard let entry = catalog.entry(index) else { continue }
            try comparison.beginEntry(entry)
            comparison.passContent()
        }
        try comparison.finish()
        var next = 0
        try await runInOrder(
            next: { () throws(VaultError) -> Supply<Int> in
                guard next < catalog.pieceCount else { return .end }
                defer { next += 1 }
                return .input(next)
            },
            memory: { 2 * catalog.pieceRange($0).count },
            work: { (number: Int) throws(VaultError) -> Void in _ = try verifiedPlaintext(ofPiece: number) },
            deliver: { (_: Void) in })
    }
}
