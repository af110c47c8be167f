public import VaultCrypto
public import VaultErrors
public import VaultFileSystem

extension OpenFile {
    /// SHA-256 of the whole file, read front to back.
    public func sha256() throws(VaultError) -> Digest {
        try sha256(of: 0..<status().size)
    }

    /// SHA-256 of a part of the file, as far as the file goes.
    func sha256(of range: Range<UInt64>) throws(VaultError) -> Digest {
        var digest = SHA256()
        var block: [UInt8] = []
        var offset = range.lowerBound
        while offset < range.upperBound,
            try read(into: &block, upTo: Int(min(range.upperBound - offset, 1 << 20)), at: offset) > 0
        {
            digest.update(block.span)
            offset += UInt64(block.count)
        }
        return digest.finalize()
    }
}
