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
