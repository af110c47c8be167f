import VaultCrypto

/// Incompressible test content, the same in every run.
enum Bytes {
    /// The key stream of AES, which is fast in a debug build, too.
    static func random(_ count: Int, seed: UInt64) -> [UInt8] {
        let key = (0..<AES256GCM.keyLength).map { UInt8(truncatingIfNeeded: seed >> (8 * ($0 % 8))) }
        let nonce = [UInt8](repeating: 0, count: AES256GCM.nonceLength)
        let zeros = [UInt8](repeating: 0, count: count)
        guard
            var stream = try? AES256GCM.seal(
                zeros.span, nonce: nonce.span, authenticating: [UInt8]().span,
                key: SecretBytes(copying: key.span))
        else { fatalError("the key and the nonce have their lengths") }
        stream.removeLast(AES256GCM.tagLength)
        return stream
    }
}
