import VaultConcurrency
public import VaultErrors
public import VaultFileSystem

extension OpenPack {
    /// Writes everything into one folder, which must be empty and private to the writer. Every step goes through folder
    /// manifests that follow no link, and every file is created anew, so nothing is ever written elsewhere. Pieces are
    /// opened and their files are written on all cores; a file gets no byte that was not verified. What is made is as readable
    /// as the umask lets it be, 0644 or 0755 at most: it was secret. Throws `.corrupt`,
    /// `.unwritable`, `.io`, and leaves what was written so far.
    public func extract(
        into root: borrowing Folder, progress: (UInt64) -> Void = { _ in }
    ) async throws(VaultError) {
        let umask = Umask.current
        var plan = try TreePlan(of: catalog, below: root, umask: umask)
        let files = try TreeFiles(below: root, umask: umask)
        var number = 0
        var done: UInt64 = 0
        try await runInOrder(
            next: { () throws(VaultError) -> Supply<(number: Int, parts: [TreePart])> in
                guard number < catalog.pieceCount else { return .end }
                defer { number += 1 }
                return .input((number, try plan.parts(ofPiece: number)))
            },
            memory: { self.openingMemory(ofPiece: $0.number) },
            work: { (piece: (number: Int, parts: [TreePart])) throws(VaultError) -> Int in
                let plain = try self.plaintext(
                    ofPiece: piece.number, ciphertext: try self.ciphertext(ofPiece: piece.number))
                for part in piece.parts { try part.write(plain.span, to: files) }
                return plain.count
            },
            deliver: { (count: Int) in
                done += UInt64(count)
                progress(done)
            })
        try plan.finish()
    }
}
