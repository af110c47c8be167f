/// Percent-encoding of one path segment of a URL (RFC 3986, section 2.1): `%41` means `A`.
public enum PercentEncoding {
    /// Encodes all bytes but letters, digits and `-._~`.
    public static func encode(_ text: String) -> String {
        // Fast path: nearly all names need no encoding, and large sites have many.
        guard !text.utf8.allSatisfy(isPlain) else { return text }
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%")] + Hexadecimal.encode([byte]).uppercased().utf8
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Nil when a `%` is not followed by two hexadecimal digits.
    public static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        var bytes = text.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = bytes.next().flatMap(Hexadecimal.digit),
                let low = bytes.next().flatMap(Hexadecimal.digit)
            else { return nil }
            decoded.append(high << 4 | low)
        }
        return decoded
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}
