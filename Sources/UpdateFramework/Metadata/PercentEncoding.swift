/// Any text as a single segment of a URL's path (RFC 3986, section 2): all but letters, digits and `-._~` is encoded.
public enum PercentEncoding {
    public static func encode(_ text: String) -> String {
        // Nearly every name is plain, and a large site has many.
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

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}
