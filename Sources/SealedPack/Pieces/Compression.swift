import VaultErrors

/// How strongly pieces are compressed; readers need not know it.
public enum Compression: String, Sendable, CaseIterable {
    case stored = "none"
    case fast
    case standard = "default"
    case max

    /// The zstd level; nil stores pieces as they are.
    var level: Int? {
        switch self {
        case .stored: nil
        case .fast: 1
        case .standard: 3
        case .max: 19
        }
    }
}

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
