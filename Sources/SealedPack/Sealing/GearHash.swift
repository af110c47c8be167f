import VaultCrypto
import VaultErrors

/// The keyed rolling hash that cuts large files by content: a gear hash (Xia et al., FastCDC, USENIX ATC 2016)
/// whose table is secret, so that cut points reveal nothing about known content.
///
/// The hash after byte `b` is `(hash << 1) + table[b]` modulo 2^64; a cut follows a byte after which it is below
/// `threshold`. It depends on the last 64 bytes only.
struct GearHash: Sendable {
    static let minimumPiece = 32 << 10
    static let maximumPiece = 512 << 10
    /// One cut in 96 KiB of content after the minimum: 128 KiB a piece on average.
    static let threshold = UInt64.max / (96 << 10)

    /// `table[b]` is the first 8 bytes, big-endian, of HMAC-SHA-256(cut key, "gear" || 0x00 || b).
    private let table: [UInt64]

    init(key: borrowing SecretBytes) throws(VaultError) {
        var authenticator = HMACSHA256(key: key)
        var table = [UInt64](repeating: 0, count: 256)
        for byte in 0...255 {
            let message = Array("gear".utf8) + [0, UInt8(byte)]
            table[byte] =
                authenticator.authenticate(message.span).bytes.span.bigEndian(UInt64.self, at: 0) ?? 0
        }
        self.table = table
    }

    /// The number of bytes of `content` that make the next piece. `content` holds at least `maximumPiece` bytes
    /// unless the file ends in it.
    func pieceCount(of content: Span<UInt8>) -> Int {
        let end = min(content.count, Self.maximumPiece)
        guard end > Self.minimumPiece else { return end }
        // Not through `self` byte by byte: that would copy the whole table each time.
        let table = table.span
        var hash: UInt64 = 0
        // Warm up over the 64 bytes that the hash depends on.
        for index in (Self.minimumPiece - 64)..<Self.minimumPiece {
            hash = (hash << 1) &+ table[Int(content[index])]
        }
        for index in Self.minimumPiece..<end {
            hash = (hash << 1) &+ table[Int(content[index])]
            if hash < Self.threshold { return index + 1 }
        }
        return end
    }
}
