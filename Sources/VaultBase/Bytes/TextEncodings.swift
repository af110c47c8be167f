/// Base64url without padding (RFC 4648, section 5; RFC 7515, section 2), strict: one text for each value.
///
/// Constant time for each character, so that secrets can be converted.
public enum Base64URL {
    /// The length of the text for `count` bytes.
    public static func encodedLength(of count: Int) -> Int {
        count / 3 * 4 + (count % 3 == 0 ? 0 : count % 3 + 1)
    }

    /// The number of bytes that `count` characters encode; nil for an impossible length.
    public static func decodedLength(of count: Int) -> Int? {
        count % 4 == 1 ? nil : count / 4 * 3 + max(0, count % 4 - 1)
    }

    public static func encode(_ bytes: Span<UInt8>) -> String {
        var text = [UInt8](repeating: 0, count: encodedLength(of: bytes.count))
        var output = text.mutableSpan
        _ = encode(bytes, into: &output)
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes the text to the start of `output` and returns its length; nil when `output` is too small.
    public static func encode(_ bytes: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Int? {
        let count = encodedLength(of: bytes.count)
        guard output.count >= count else { return nil }
        for index in 0..<count {
            // Character `index` holds the bits from 6 * index on, which begin in byte `first`.
            let first = index / 4 * 3 + index % 4 * 3 / 4
            let next = first + 1 < bytes.count ? bytes[first + 1] : 0
            let pair = UInt16(bytes[first]) << 8 | UInt16(next)
            output[index] = character(
                UInt8(truncatingIfNeeded: pair >> UInt16(10 - index % 4 * 6 % 8)) & 0x3F)
        }
        return count
    }

    /// Nil unless the text is canonical: no other characters, no padding, unused bits zero.
    public static func decode(_ text: String.UTF8View) -> [UInt8]? {
        decode(Array(text).span)
    }

    public static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        guard let count = decodedLength(of: text.count) else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        var output = bytes.mutableSpan
        return decode(text, into: &output) == nil ? nil : bytes
    }

    /// Writes the bytes to the start of `output` and returns their number; nil when the text is invalid or `output` is
    /// too small.
    public static func decode(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Int? {
        guard let count = decodedLength(of: text.count), output.count >= count else { return nil }
        var invalid = 0
        var bits: UInt32 = 0
        var bitLength: UInt32 = 0
        var written = 0
        for index in text.indices {
            let sextet = value(of: text[index])
            invalid |= sextet
            bits = bits << 6 | UInt32(truncatingIfNeeded: sextet & 0x3F)
            bitLength += 6
            if bitLength >= 8 {
                bitLength -= 8
                output[written] = UInt8(truncatingIfNeeded: bits >> bitLength)
                written += 1
            }
        }
        let spare = bits & (1 << bitLength - 1)
        return invalid >= 0 && spare == 0 ? count : nil
    }

    /// All bits one when `low <= byte <= high`, else zero, without a branch.
    private static func mask(_ byte: Int, _ low: Unicode.Scalar, _ high: Unicode.Scalar) -> Int {
        ((Int(low.value) - 1 - byte) & (byte - Int(high.value) - 1)) >> 8
    }

    /// The value of one character, or -1.
    private static func value(of character: UInt8) -> Int {
        let byte = Int(character)
        return -1
            + (mask(byte, "A", "Z") & (byte - 0x41 + 1))
            + (mask(byte, "a", "z") & (byte - 0x61 + 27))
            + (mask(byte, "0", "9") & (byte - 0x30 + 53))
            + (mask(byte, "-", "-") & 63)
            + (mask(byte, "_", "_") & 64)
    }

    /// The character of one 6-bit value.
    private static func character(_ sextet: UInt8) -> UInt8 {
        let value = Int(sextet)
        func from(_ first: Int) -> Int { (first - 1 - value) >> 8 }
        // Each step moves from one alphabet to the next: A-Z, a-z, 0-9, "-", "_".
        let byte =
            0x41 + value + (from(26) & (0x61 - 0x41 - 26)) + (from(52) & (0x30 - 0x61 - 26))
            + (from(62) & (0x2D - 0x30 - 10)) + (from(63) & (0x5F - 0x2D - 1))
        return UInt8(truncatingIfNeeded: byte)
    }
}

/// Bytes as pairs of hexadecimal digits (RFC 4648, section 8).
public enum Hexadecimal {
    /// Lowercase digits.
    public static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            text.append(character(byte >> 4))
            text.append(character(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil unless the text is pairs of digits, of either case.
    public static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for character in text.utf8 {
            guard let digit = digit(character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    /// The value of a digit of either case, 0 to 15; nil for any other character.
    public static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func character(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
    }
}

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
