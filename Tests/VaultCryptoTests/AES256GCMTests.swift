import Testing
import VaultBase
import VaultCrypto

@Suite struct AES256GCMTests {
    /// NIST CAVS 14.0, gcmEncryptExtIV256: PTlen 408, AADlen 160, Taglen 128, count 0.
    static let key = hex("24501ad384e473963d476edcfe08205237acfd49b5b8f33857f8114e863fec7f")
    static let nonce = hex("9ff18563b978ec281b3f2794")
    static let associated = hex("adb5ec720ccf9898500028bf34afccbcaca126ef")
    static let plaintext = hex(
        """
        27f348f9cdc0c5bd5e66b1ccb63ad920ff2219d14e8d631b
        3872265cf117ee86757accb158bd9abb3868fdc0d0b074b5f01b2c
        """)
    static let sealed = hex(
        """
        eb7cb754c824e8d96f7c6d9b76c7d26fb874ffbf1d65c6f6
        4a698d839b0b06145dae82057ad55994cf59ad7f67c0fa5e85fab8
        bc95c532fecc594c36d1550286a7a3f0
        """)

    static func open(
        _ sealed: [UInt8], nonce: [UInt8] = nonce, associated: [UInt8] = associated, key: [UInt8] = key
    ) throws(VaultError) -> [UInt8] {
        try AES256GCM.open(
            sealed.span, nonce: nonce.span, authenticating: associated.span, key: secret(key))
    }

    static func seal(
        _ message: [UInt8], nonce: [UInt8] = nonce, key: [UInt8] = key
    ) throws(VaultError) -> [UInt8] {
        try AES256GCM.seal(
            message.span, nonce: nonce.span, authenticating: associated.span, key: secret(key))
    }

    @Test func matchesPublishedVector() throws {
        #expect(try Self.seal(Self.plaintext) == Self.sealed)
        #expect(try Self.open(Self.sealed) == Self.plaintext)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 100_000]) func sealedMessagesOpen(count: Int) throws {
        let bytes = message(count)
        let sealed = try Self.seal(bytes)
        #expect(sealed.count == count + 16)
        #expect(try Self.open(sealed) == bytes)
    }

    @Test func everyFlippedBitIsDetected() throws {
        for bit in 0..<8 * Self.sealed.count {
            var changed = Self.sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(failure { () throws(VaultError) in _ = try Self.open(changed) } == .corrupt)
        }
        var associated = Self.associated
        associated[0] ^= 1
        #expect(
            failure { () throws(VaultError) in _ = try Self.open(Self.sealed, associated: associated) }
                == .corrupt)
    }

    /// OpenSSL would take a tag of 12 bytes.
    @Test func shortenedTagsAreRefused() throws {
        for count in 0..<Self.sealed.count {
            let shortened = Array(Self.sealed.prefix(count))
            #expect(failure { () throws(VaultError) in _ = try Self.open(shortened) } == .corrupt)
        }
    }

    @Test(arguments: [0, 11, 13, 16]) func otherNonceSizesAreRefused(count: Int) {
        let nonce = message(count)
        #expect(failure { () throws(VaultError) in _ = try Self.open(Self.sealed, nonce: nonce) } == .usage)
        #expect(
            failure { () throws(VaultError) in _ = try Self.seal(Self.plaintext, nonce: nonce) } == .usage)
    }

    @Test(arguments: [0, 16, 24, 31, 33]) func otherKeySizesAreRefused(count: Int) {
        let key = message(count)
        #expect(failure { () throws(VaultError) in _ = try Self.open(Self.sealed, key: key) } == .key)
        #expect(failure { () throws(VaultError) in _ = try Self.seal(Self.plaintext, key: key) } == .key)
    }
}
