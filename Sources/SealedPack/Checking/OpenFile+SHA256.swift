public import VaultCrypto
public import VaultErrors
public import VaultFileSystem

extension OpenFile {
    /// SHA-256 of the whole file, read front to back.
    public func sha256() throws(VaultError) -> Digest {
        var digest = SHA256()
        var block: [UInt8] = []
        var offset: UInt64 = 0
        // A buffer is filled with zeros first, which for a small pack would be most of the work.
        let count = 1 + Int(min(try status().size, 1 << 20))
        while try read(into: &block, upTo: count, at: offset) > 0 {
            digest.update(block.span)
            offset += UInt64(block.count)
        }
        return digest.finalize()
    }
}
