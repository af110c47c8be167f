import VaultCrypto

/// Deterministic incompressible bytes from a cipher.
func noise(_ count: Int, seed: UInt8 = 1) throws -> [UInt8] {
    let key = SecretBytes(copying: [UInt8](repeating: seed, count: 32).span)
    let sealed = try Cobblestone256.seal(
        [UInt8](repeating: 0, count: count + 1).span, salt: [UInt8](repeating: 0, count: 24), context: [],
        key: key)
    return Array(sealed[Cobblestone256.headerLength...].prefix(count))
}

/// Bytes like those of a level's description, which compress well.
func prose(_ count: Int, seed: Int = 0) -> [UInt8] {
    var bytes: [UInt8] = []
    var number = seed
    while bytes.count < count {
        bytes += Array("{\"enemy\": \(number &* 7919 % 10_007), \"at\": [0.5, 1.25]},\n".utf8)
        number += 1
    }
    return Array(bytes.prefix(count))
}

extension [UInt8] {
    mutating func appendInteger(_ value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    func integer<Value: FixedWidthInteger>(_: Value.Type, at offset: Int) -> Value {
        self[offset..<(offset + Value.bitWidth / 8)].reduce(0) { $0 << 8 | Value($1) }
    }

    var sha256: [UInt8] { SHA256.hash(span).bytes }
}
