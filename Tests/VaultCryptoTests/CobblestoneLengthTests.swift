import Testing
import VaultCrypto

@Suite struct CobblestoneLengthTests {
    static let largestMessage: UInt64 = 1 << 52 - 1

    @Test func largestMessageIsFourPebibytesLessOneByte() throws {
        let largest = try #require(Cobblestone256.sealedLength(ofMessage: Self.largestMessage))
        #expect(largest == 56 + Self.largestMessage + 16 << 38)
        #expect(Cobblestone256.messageLength(ofSealed: largest) == Self.largestMessage)
        #expect(Cobblestone256.messageLength(ofSealed: largest + 1) == nil)
        #expect(Cobblestone256.sealedLength(ofMessage: Self.largestMessage + 1) == nil)
    }

    @Test(arguments: [UInt64.max, UInt64.max - 1, UInt64.max - 56, 1 << 63, 1 << 62] as [UInt64])
    func hugeLengthsAreRefused(count: UInt64) {
        #expect(Cobblestone256.sealedLength(ofMessage: count) == nil)
        #expect(Cobblestone256.messageLength(ofSealed: count) == nil)
    }

    @Test func sealedLengthsMatchMessageLengths() {
        for sealed in UInt64(0)..<50_000 {
            if let message = Cobblestone256.messageLength(ofSealed: sealed) {
                #expect(Cobblestone256.sealedLength(ofMessage: message) == sealed)
            } else {
                // Too short for a header and a tag, truncated at a chunk's end, or in the last chunk's tag.
                #expect(sealed < 72 || (sealed - 56) % 16_400 < 16)
            }
        }
    }
}
