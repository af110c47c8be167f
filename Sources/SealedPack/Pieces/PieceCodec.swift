import VaultErrors

/// The encoding of a piece or catalog in its message; the message's first byte.
enum PieceCodec: UInt8, Sendable {
    case stored = 0
    case zstd = 1

    /// The codec of a decrypted message. Throws `.corrupt`.
    init(ofMessage message: [UInt8], at place: String) throws(VaultError) {
        guard let first = message.first else {
            throw VaultError(.corrupt, "a message is empty", at: place, remedy: "do not use this pack")
        }
        guard let codec = PieceCodec(rawValue: first) else {
            throw .unknownFormat("the pack uses codec \(first), which is unknown", at: place)
        }
        self = codec
    }
}
