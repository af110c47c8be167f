import CVaultOpenSSL

/// PEM of public keys (RFC 7468), without OpenSSL's reader, which skips any text around a key.
enum PublicKeyPEM {
    private static let start = Array("-----BEGIN PUBLIC KEY-----".utf8)
    private static let end = Array("-----END PUBLIC KEY-----".utf8)
    private static let lineLength = 64

    /// The longest text that is read, in bytes; those of the largest RSA keys have less than 6,000.
    private static let limit = 1 << 14

    /// The decoded bytes of the text's only block; nil if there is more than whitespace around it, if it is empty, or if its
    /// base64 is not canonical. Lines may have any length and end.
    static func content(of text: Span<UInt8>) -> [UInt8]? {
        guard text.count <= limit else { return nil }
        let text = text.indices.map { text[$0] }
        guard let first = text.firstIndex(where: { !isWhitespace($0) }), text[first...].starts(with: start),
            let last = text.lastIndex(where: { !isWhitespace($0) }),
            text[...last].reversed().starts(with: end.reversed())
        else { return nil }
        let inside = text.dropFirst(first + start.count).dropLast(text.count - 1 - last + end.count)
        let digits = inside.filter { !isWhitespace($0) }
        guard !digits.isEmpty else { return nil }
        let content = decoded(base64: digits)
        // OpenSSL's decoder accepts misplaced padding and non-zero bits after the end.
        return base64(of: content) == digits ? content : nil
    }

    /// The text, in lines of 64 characters that end with a line feed.
    static func text(of content: [UInt8]) -> String {
        let digits = base64(of: content)
        let lines = stride(from: 0, to: digits.count, by: lineLength).map {
            digits.dropFirst($0).prefix(lineLength)
        }
        let all = [start[...]] + lines + [end[...]]
        return String(decoding: Array(all.joined(separator: [0x0a])) + [0x0a], as: UTF8.self)
    }

    /// ASCII's space, tab, line feed, vertical tab, form feed and carriage return.
    private static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0d).contains(byte)
    }

    /// Empty if the digits are invalid.
    private static func decoded(base64 digits: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: digits.count)
        let count = unsafe Int(EVP_DecodeBlock(&bytes, digits, Int32(digits.count)))
        let padding = digits.suffix(2).count { $0 == UInt8(ascii: "=") }
        return Array(bytes.prefix(max(count - padding, 0)))
    }

    private static func base64(of bytes: [UInt8]) -> [UInt8] {
        // OpenSSL writes a zero after the last digit.
        var digits = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = unsafe Int(EVP_EncodeBlock(&digits, bytes, Int32(bytes.count)))
        return Array(digits.prefix(count))
    }
}
