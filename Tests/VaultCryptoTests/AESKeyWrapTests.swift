import Testing
import VaultBase
import VaultCrypto

@Suite struct AESKeyWrapTests {
    /// RFC 3394, section 4.6: 256 bits of key under a 256-bit KEK.
    static let wrappingKey = [UInt8](0..<32)
    static let key = hex("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f")
    static let wrapped = hex(
        "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21")

    static func unwrap(_ wrapped: [UInt8], under key: [UInt8] = wrappingKey) throws(VaultError) -> [UInt8] {
        try AESKeyWrap.unwrap(wrapped.span, under: secret(key)).exposed
    }

    @Test func matchesPublishedVector() throws {
        #expect(try AESKeyWrap.wrap(secret(Self.key), under: secret(Self.wrappingKey)) == Self.wrapped)
        #expect(try Self.unwrap(Self.wrapped) == Self.key)
    }

    @Test(arguments: [16, 24, 32, 64, 512]) func wrappedKeysUnwrap(count: Int) throws {
        let wrapped = try AESKeyWrap.wrap(secret(message(count)), under: secret(Self.wrappingKey))
        #expect(wrapped.count == count + 8)
        #expect(try Self.unwrap(wrapped) == message(count))
    }

    @Test func everyFlippedBitIsDetected() {
        for bit in 0..<8 * Self.wrapped.count {
            var changed = Self.wrapped
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(failure { () throws(VaultError) in _ = try Self.unwrap(changed) } == .key)
        }
    }

    @Test func wrongKeyDoesNotUnwrap() {
        let other = [UInt8](1..<33)
        #expect(failure { () throws(VaultError) in _ = try Self.unwrap(Self.wrapped, under: other) } == .key)
    }

    @Test(arguments: [0, 1, 8, 16, 23, 25, 39, 41]) func otherWrappedSizesAreRefused(count: Int) {
        let wrapped = message(count)
        #expect(failure { () throws(VaultError) in _ = try Self.unwrap(wrapped) } == .key)
    }

    @Test(arguments: [0, 8, 15, 17, 31]) func otherKeySizesAreRefused(count: Int) {
        let category = failure { () throws(VaultError) in
            _ = try AESKeyWrap.wrap(secret(message(count)), under: secret(Self.wrappingKey))
        }
        #expect(category == .key)
    }

    @Test(arguments: [0, 16, 24, 31, 33]) func otherWrappingKeySizesAreRefused(count: Int) {
        let key = message(count)
        #expect(failure { () throws(VaultError) in _ = try Self.unwrap(Self.wrapped, under: key) } == .key)
        let category = failure { () throws(VaultError) in
            _ = try AESKeyWrap.wrap(secret(Self.key), under: secret(key))
        }
        #expect(category == .key)
    }
}
