import VaultBase
import VaultCrypto

/// Decodes hexadecimal digits, the form of published vectors.
func hex(_ digits: String) -> [UInt8] {
    let digits = Array(digits.filter { !$0.isWhitespace })
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
}

func secret(_ bytes: [UInt8]) -> SecretBytes {
    SecretBytes(copying: bytes.span)
}

extension SecretBytes {
    /// A readable copy, for tests only.
    var exposed: [UInt8] {
        withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }
}

/// A message without a period, so that misplaced chunks are detected.
func message(_ count: Int) -> [UInt8] {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 32)
    }
}

/// The category of the error; nil without an error.
func failure(of work: () throws(VaultError) -> Void) -> VaultError.Category? {
    do throws(VaultError) {
        try work()
        return nil
    } catch {
        return error.category
    }
}
