import VaultCrypto
import VaultErrors
import VaultFileSystem

extension PackFile {
    /// Streams the index: hands every record with the place of its piece to `body`. That the records are the ones that
    /// the footer names is known only when this returns. Throws `.corrupt`.
    func forEachIndexRecord(_ body: (_ number: Int, IndexRecord, _ offset: UInt64) throws(VaultError) -> Void)
        throws(VaultError)
    {
        let layout = footer.layout
        let recordsAtOnce = 4096
        var digest = SHA256()
        var block: [UInt8] = []
        var offset = PackLayout.piecesOffset
        var number = 0
        while number < Int(layout.pieceCount) {
            let records = min(recordsAtOnce, Int(layout.pieceCount) - number)
            let position = layout.indexOffset + UInt64(number) * UInt64(IndexRecord.count)
            guard
                try file.read(into: &block, upTo: records * IndexRecord.count, at: position) == records
                    * IndexRecord.count
            else { throw indexRefusal("the pack is cut short") }
            digest.update(block.span)
            for index in 0..<records {
                let start = index * IndexRecord.count
                let record = try IndexRecord(
                    parsing: block.span.extracting(start..<(start + IndexRecord.count)), place: place)
                guard UInt64(record.ciphertextCount) <= layout.indexOffset - offset else {
                    throw indexRefusal("the index states more bytes than there are")
                }
                try body(number, record, offset)
                offset += UInt64(record.ciphertextCount)
                number += 1
            }
        }
        guard digest.finalize() == footer.indexDigest else {
            throw indexRefusal("the index has the wrong digest")
        }
        guard offset == layout.indexOffset else {
            throw indexRefusal("the index states fewer bytes than there are")
        }
    }

    private func indexRefusal(_ problem: String) -> VaultError {
        VaultError(.corrupt, problem, at: place, remedy: "repair the pack, or fetch it again")
    }
}
