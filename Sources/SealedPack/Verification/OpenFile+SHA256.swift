public import VaultCrypto
public import VaultErrors
public import VaultFileSystem

extension OpenFile {
    /// SHA-256 of the whole file, read front to back.
    public func sha256() throws(VaultError) -> SHA256Digest {
        try sha256(of: 0..<status().size)
    }

    /// SHA-256 of a part of the file, as far as the file goes.
    func sha256(of range: Range<UInt64>) throws(VaultError) -> SHA256Digest {
        var digest = SHA256()
        try forEachBlock(of: range) { block, _ in digest.update(block) }
        return digest.finalize()
    }
}
