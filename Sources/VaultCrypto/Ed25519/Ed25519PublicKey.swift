/// An Ed25519 public key (RFC 8032): 32 bytes, not secret.
public struct Ed25519PublicKey: Hashable, Sendable {
    public static let rawLength = 32
    public static let signatureLength = 64

    public let raw: [UInt8]

    /// Nil unless there are exactly 32 bytes. A key that is not a point of the curve accepts no signature.
    public init?(raw: Span<UInt8>) {
        guard raw.count == Self.rawLength else { return nil }
        self.raw = raw.indices.map { raw[$0] }
    }

    /// True only for a signature of exactly 64 bytes that this key's owner made over exactly this message.
    public func isValid(signature: Span<UInt8>, for message: Span<UInt8>) -> Bool {
        guard let key = PublicKeyHandle(ed25519: raw.span) else { return false }
        return key.isValid(signature: signature, for: message, scheme: .ed25519)
    }
}
