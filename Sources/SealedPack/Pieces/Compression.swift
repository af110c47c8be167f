import VaultContent
import VaultErrors

/// How strongly pieces are compressed; readers need not know it.
public enum Compression: String, Sendable, CaseIterable {
    case uncompressed = "none"
    case fast
    case standard = "default"
    case max

    /// Those that compress, the usual one first.
    static let levels = [standard] + allCases.filter { $0 != .standard && $0.level != nil }

    /// The zstd level; nil leaves pieces as they are.
    var level: Int? {
        switch self {
        case .uncompressed: nil
        case .fast: 1
        case .standard: 3
        case .max: 19
        }
    }

    /// A piece as it is encrypted; nil where it stays as it is.
    func encode(_ plain: [UInt8]) throws(VaultError) -> (codec: PieceCodec, data: [UInt8])? {
        var data: [UInt8] = []
        guard let level, try Zstd.compress(plain.span, level: level, appendingTo: &data) else { return nil }
        return (.zstd, data)
    }
}

/// The encoding of a piece or catalog in its message; the message's first byte. A further codec needs the next version of
/// the format: see "How the format grows" in <doc:Format>.
enum PieceCodec: UInt8, Sendable {
    case uncompressed = 0
    case zstd = 1

    /// The codec of a decrypted message. Throws `.corrupt`.
    init(ofMessage message: [UInt8], at place: String) throws(VaultError) {
        guard let first = message.first else {
            throw VaultError(.corrupt, "a message is empty", at: place, remedy: "do not use this pack")
        }
        guard let codec = PieceCodec(rawValue: first) else {
            throw .unsupportedFormat("the pack uses codec \(first), which is unknown", at: place)
        }
        self = codec
    }

    /// The content of the data that begins at `start` in a decrypted message. Throws `.corrupt`.
    ///
    /// - Parameter count: its length in bytes, which uncompressed data may differ from.
    func decode(
        _ message: [UInt8], from start: Int, exactly count: Int
    ) throws(VaultError) -> ArraySlice<UInt8> {
        switch self {
        case .uncompressed: message.dropFirst(start)
        case .zstd: try Zstd.decompress(message.span.extracting(start...), exactly: count)[...]
        }
    }
}
