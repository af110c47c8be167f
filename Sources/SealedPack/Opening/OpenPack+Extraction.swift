import VaultConcurrency
public import VaultErrors
public import VaultFileSystem

extension OpenPack {
    /// Writes all files into one folder, which must be empty and private to the writer. Uses folder descriptors that
    /// follow no link and creates every file, so nothing is written outside. Pieces are opened and written on all
    /// cores; only verified bytes are written. Modes are 0644 or 0755, reduced by the umask. Throws `.corrupt`,
    /// `.unwritable`, `.io`, and leaves incomplete files.
    public func extract(
        into root: borrowing Folder, progress: (UInt64) -> Void = { _ in }
    ) async throws(VaultError) {
        let umask = Umask.current
        var plan = try TreePlan(of: catalog, below: root, umask: umask)
        let files = try TreeFiles(below: root, umask: umask)
        var number = 0
        var done: UInt64 = 0
        try await runInOrder(
            next: { () throws(VaultError) -> NextInput<(number: Int, parts: [TreePart])> in
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
