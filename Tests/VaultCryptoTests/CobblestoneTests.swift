import Testing
import VaultBase
import VaultCrypto

/// Sizes around the ends of chunks.
let sizesAroundChunks = [
    0, 1, 15, 16, 17, 16_367, 16_368, 16_369, 16_383, 16_384, 16_385, 16_400, 32_767, 32_768, 32_769, 49_152,
    131_072, 131_073,
]

@Suite struct CobblestoneTests {
    static let key = hex("59454c4c4f57205355424d4152494e452059454c4c4f57205355424d4152494e")
    static let salt = message(24)

    static func seal(_ bytes: [UInt8], context: [UInt8] = [], key: [UInt8] = key) throws(VaultError)
        -> [UInt8]
    {
        try Cobblestone256.seal(bytes.span, salt: salt, context: context, key: secret(key))
    }

    static func open(_ sealed: [UInt8], context: [UInt8] = [], key: [UInt8] = key) throws(VaultError)
        -> [UInt8]
    {
        try Cobblestone256.open(sealed.span, context: context, key: secret(key))
    }

    /// Project Wycheproof, c2sp_chunked_encryption_aes_256_gcm_test.json: tests 1, 2 and 10.
    @Test(arguments: [
        (
            "", "",
            """
            43a2e39431cbae0389d3fc86adf46f7c3a24de88d9311617e53f3164cc1d5dc738a66b97f0bf786565c31799c2f463d5
            0a7e10046011dc6fc3c939e3a5db7affb6191551669554fb
            """
        ),
        (
            "chunked", "",
            """
            a1a1b56f6db58cd1ede0c5c9db62aef20d3f96a6c594bb9252bb38122de91236502b42a1d7fcab820ffa292940d2f86a
            dd212cfa42c38df19d3cc9139ee61a5990d3db57433514229beea49a8a72bd
            """
        ),
        (
            "chunked", "test\0context",
            """
            12ede102c3ef730da4f3d4dbfaf11003683238315befe73b21ebb2246ac19f3a7d50abd2a5a365f7652bda670814dbc8
            83ce618256d2d513bd238c2c0dded7614d52bef77bc04273656df97a294323
            """
        ),
    ])
    func matchesPublishedVectors(message: String, context: String, sealed: String) throws {
        let message = Array(message.utf8)
        let context = Array(context.utf8)
        let sealed = hex(sealed)
        #expect(try Self.open(sealed, context: context) == message)
        let again = try Cobblestone256.seal(
            message.span, salt: Array(sealed.prefix(24)), context: context, key: secret(Self.key))
        #expect(again == sealed)
    }

    @Test(arguments: sizesAroundChunks) func sealedMessagesOpen(count: Int) throws {
        let bytes = message(count)
        let sealed = try Self.seal(bytes)
        #expect(Cobblestone256.sealedLength(ofMessage: UInt64(count)) == UInt64(sealed.count))
        #expect(Cobblestone256.messageLength(ofSealed: UInt64(sealed.count)) == UInt64(count))
        #expect(sealed.prefix(24) == Self.salt[...])
        #expect(try Self.open(sealed) == bytes)
    }

    /// All bytes of the first and last chunk's tags, and some bytes between.
    @Test func flippedBytesAreDetected() throws {
        let sealed = try Self.seal(message(16_384 + 100))
        let places =
            Array(0..<200) + Array(stride(from: 200, to: 16_400, by: 613)) + Array(16_400..<sealed.count)
        for place in places {
            var changed = sealed
            changed[place] ^= 0x10
            #expect(failure { () throws(VaultError) in _ = try Self.open(changed) } == .corrupt)
        }
    }

    @Test func truncationAndExtensionAreDetected() throws {
        let sealed = try Self.seal(message(2 * 16_384 + 20))
        let lengths =
            Array(0...100) + Array(16_384...16_500) + Array(32_768..<sealed.count)
        for length in lengths {
            let shortened = Array(sealed.prefix(length))
            #expect(failure { () throws(VaultError) in _ = try Self.open(shortened) } == .corrupt)
        }
        for extra in [1, 12, 16, 20, 16_384, 16_400] {
            let extended = sealed + message(extra)
            #expect(failure { () throws(VaultError) in _ = try Self.open(extended) } == .corrupt)
        }
    }

    @Test func swappedRepeatedAndDroppedChunksAreDetected() throws {
        let sealed = try Self.seal(message(2 * 16_384 + 20))
        let header = sealed[..<56]
        let first = sealed[56..<16_456]
        let second = sealed[16_456..<32_856]
        let last = sealed[32_856...]
        for wrong in [
            header + second + first + last, header + first + first + last, header + first + last,
            header + second + last, header + first + second + second + last,
        ] {
            #expect(failure { () throws(VaultError) in _ = try Self.open(Array(wrong)) } == .corrupt)
        }
    }

    @Test func wrongContextOrKeyDoesNotOpen() throws {
        let sealed = try Self.seal(message(10), context: [1])
        var otherKey = Self.key
        otherKey[31] ^= 1
        #expect(failure { () throws(VaultError) in _ = try Self.open(sealed, context: []) } == .corrupt)
        #expect(
            failure { () throws(VaultError) in _ = try Self.open(sealed, context: [1], key: otherKey) }
                == .corrupt)
    }

    @Test(arguments: [0, 16, 31, 33]) func otherKeySizesAreRefused(count: Int) throws {
        let key = message(count)
        let sealed = try Self.seal([])
        #expect(failure { () throws(VaultError) in _ = try Self.seal([], key: key) } == .key)
        #expect(failure { () throws(VaultError) in _ = try Self.open(sealed, key: key) } == .key)
    }

    @Test(arguments: [0, 23, 25]) func otherSaltSizesAreRefused(count: Int) {
        let empty: [UInt8] = []
        let category = failure { () throws(VaultError) in
            _ = try Cobblestone256.seal(empty.span, salt: message(count), context: [], key: secret(Self.key))
        }
        #expect(category == .usage)
    }

    @Test func failuresAppendNothing() throws {
        var sealed = try Self.seal(message(40_000))
        sealed[sealed.count - 1] ^= 1
        var output: [UInt8] = [1, 2, 3]
        let category = failure { () throws(VaultError) in
            try Cobblestone256.open(sealed.span, context: [], key: secret(Self.key), appendingTo: &output)
        }
        #expect(category == .corrupt)
        #expect(output == [1, 2, 3])
    }
}
