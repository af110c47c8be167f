import VaultCrypto

/// A target path and its SHA-256, which determines its bin.
struct TargetPath: Sendable {
    let text: String
    let digest: SHA256Digest
    let hexDigest: String

    init(_ text: String) {
        self.text = text
        digest = SHA256.hash(Array(text.utf8).span)
        hexDigest = digest.hex
    }
}
