import VaultCrypto

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
