import SealedPack
import VaultBytes
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
    /// One cut in 96 KiB after the minimum, 128 KiB a piece on average.
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

    /// The state of the search for a piece's end.
    struct Search {
        /// The hash depends on 64 bytes only: that many before the first possible cut are enough.
        fileprivate var position = minimumPiece - 64
        fileprivate var hash: UInt64 = 0
    }

    /// The length of the piece at the start of `content`; nil when the search needs more bytes appended to it.
    func pieceCount(of content: Span<UInt8>, _ search: inout Search) -> Int? {
        // Accessing the table through `self` would copy it for each byte.
        let table = table.span
        let end = min(content.count, Self.maximumPiece)
        var (position, hash) = (search.position, search.hash)
        while position < min(end, Self.minimumPiece) {
            hash = (hash << 1) &+ table[Int(content[position])]
            position += 1
        }
        while position < end {
            hash = (hash << 1) &+ table[Int(content[position])]
            position += 1
            if hash < Self.threshold { return position }
        }
        search = Search(position: position, hash: hash)
        return end == Self.maximumPiece ? end : nil
    }
}
