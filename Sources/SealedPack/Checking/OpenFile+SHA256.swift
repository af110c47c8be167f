public import VaultCrypto
public import VaultErrors
public import VaultFileSystem

extension OpenFile {
    /// SHA-256 of the whole file, read front to back.
    public func sha256() throws(VaultError) -> Digest {
        var digest = SHA256()
        var block: [UInt8] = []
        var offset: UInt64 = 0
        while try read(into: &block, upTo: 1 << 20, at: offset) > 0 {
            digest.update(block.span)
            offset += UInt64(block.count)
        }
        return digest.finalize()
    }
}
