public import VaultCrypto
public import VaultErrors
public import VaultFileSystem

extension OpenFile {
    /// SHA-256 of the whole file, read front to back.
    public func sha256() throws(VaultError) -> SHA256Digest {
        try sha256(of: 0..<status().size)
    }

    /// Whether the file has this length and digest.
    public func hasContent(length: UInt64, _ sha256: SHA256Digest?) throws(VaultError) -> Bool {
        guard try status().size == length else { return false }
        return try self.sha256() == sha256
    }

    /// SHA-256 of a part of the file, as far as the file goes.
    func sha256(of range: Range<UInt64>) throws(VaultError) -> SHA256Digest {
        var digest = SHA256()
        try forEachBlock(of: range) { block, _ in digest.update(block) }
        return digest.finalize()
    }
}
