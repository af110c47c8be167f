import VaultCrypto
import VaultErrors
import VaultFileSystem

extension PackFile {
    /// Streams the index: passes every record and the offset of its piece to `body`. The records are verified only when
    /// this returns. Throws `.corrupt`.
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
            let position = layout.indexOffset + UInt64(number) * UInt64(IndexRecord.length)
            guard
                try file.read(into: &block, upTo: records * IndexRecord.length, at: position) == records
                    * IndexRecord.length
            else { throw indexRefusal("the pack is cut short") }
            digest.update(block.span)
            for index in 0..<records {
                let start = index * IndexRecord.length
                let record = try IndexRecord(
                    parsing: block.span.extracting(start..<(start + IndexRecord.length)), place: place)
                guard UInt64(record.ciphertextLength) <= layout.indexOffset - offset else {
                    throw indexRefusal("the index states more bytes than there are")
                }
                try body(number, record, offset)
                offset += UInt64(record.ciphertextLength)
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
