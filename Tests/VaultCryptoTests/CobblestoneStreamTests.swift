import Testing
import VaultBase
import VaultCrypto

@Suite struct CobblestoneStreamTests {
    static let key = CobblestoneTests.key
    static let context = Array("assetvault/v1/piece".utf8)

    @Test(arguments: sizesAroundChunks, [1_000, 16_383, 16_384, 16_385, 100_000])
    func partsGiveTheSameBytes(count: Int, part: Int) throws {
        let bytes = message(count)
        let whole = try Cobblestone256.seal(
            bytes.span, salt: CobblestoneTests.salt, context: Self.context, key: secret(Self.key))
        var sealer = try Cobblestone256.Sealer(
            salt: CobblestoneTests.salt, context: Self.context, key: secret(Self.key))
        var sealed = sealer.header
        for start in stride(from: 0, to: count, by: part) {
            try sealer.update(bytes.span.extracting(start..<min(start + part, count)), appendingTo: &sealed)
        }
        sealer.finish(appendingTo: &sealed)
        #expect(sealed == whole)
    }

    @Test func chunksOpenInAnyOrder() throws {
        let bytes = message(3 * 16_384 + 5)
        let sealed = try CobblestoneTests.seal(bytes, context: Self.context)
        var opener = try Cobblestone256.Opener(
            header: sealed.span.extracting(..<56), context: Self.context, key: secret(Self.key))
        for number in [3, 0, 2, 1, 2] {
            let start = 56 + number * 16_400
            let chunk = sealed[start..<min(start + 16_400, sealed.count)]
            var opened: [UInt8] = []
            try opener.openChunk(
                chunk.span, number: UInt64(number), isLast: number == 3, appendingTo: &opened)
            #expect(opened == Array(bytes[number * 16_384..<min((number + 1) * 16_384, bytes.count)]))
        }
    }

    @Test func chunksOpenOnlyAtTheirNumber() throws {
        let sealed = try CobblestoneTests.seal(message(2 * 16_384), context: Self.context)
        var opener = try Cobblestone256.Opener(
            header: sealed.span.extracting(..<56), context: Self.context, key: secret(Self.key))
        let first = sealed[56..<16_456]
        var output: [UInt8] = [9]
        let attempts: [(ArraySlice<UInt8>, UInt64, Bool)] = [
            (first, 1, false), (first, 0, true), (first.dropLast(), 0, false), (first.dropLast(), 0, true),
            (first, 1 << 38, false), (first, .max, false), (sealed.suffix(16), 2, false),
            (sealed.suffix(16), 1, true), (sealed.suffix(15), 2, true), ([], 2, true),
        ]
        for (chunk, number, isLast) in attempts {
            let category = failure { () throws(VaultError) in
                try opener.openChunk(chunk.span, number: number, isLast: isLast, appendingTo: &output)
            }
            #expect(category == .corrupt)
        }
        #expect(output == [9])
        // A failure does not affect later chunks.
        try opener.openChunk(first.span, number: 0, isLast: false, appendingTo: &output)
        try opener.openChunk(sealed.span.extracting(last: 16), number: 2, isLast: true, appendingTo: &output)
        #expect(output == [9] + message(2 * 16_384)[..<16_384])
    }

    @Test func changedHeaderIsDetectedBeforeAnyChunk() throws {
        let sealed = try CobblestoneTests.seal([], context: Self.context)
        for place in 0..<56 {
            var header = Array(sealed[..<56])
            header[place] ^= 1
            let category = failure { () throws(VaultError) in
                _ = try Cobblestone256.Opener(
                    header: header.span, context: Self.context, key: secret(Self.key))
            }
            #expect(category == .corrupt)
        }
        for count in [0, 24, 55, 57] {
            let category = failure { () throws(VaultError) in
                _ = try Cobblestone256.Opener(
                    header: sealed.span.extracting(first: count), context: Self.context, key: secret(Self.key)
                )
            }
            #expect(category == .corrupt)
        }
    }

    /// Chunk numbers are less than 2^38. The test computes these chunks from the specification.
    @Test func chunkNumbersOverTheLimitAreRefused() throws {
        let sealed = try CobblestoneTests.seal([], context: Self.context)
        let info =
            Array("c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0".utf8) + sealed[..<24] + Self.context
        let derived = try HKDF.expandSHA512(secret(Self.key), info: info.span, count: 76).exposed
        #expect(derived[44...] == sealed[24..<56])
        var opener = try Cobblestone256.Opener(
            header: sealed.span.extracting(..<56), context: Self.context, key: secret(Self.key))
        let bytes = message(16_384)
        let none: [UInt8] = []
        for (number, category) in [(0, nil), (1 << 38 - 1, nil), (1 << 38, .corrupt)]
            as [(UInt64, VaultError.Category?)]
        {
            var nonce = Array(derived[32..<44])
            for place in 0..<8 { nonce[11 - place] ^= UInt8(number >> (8 * UInt64(place)) & 0xFF) }
            let chunk = try AES256GCM.seal(
                bytes.span, nonce: nonce.span, authenticating: none.span, key: secret(Array(derived[..<32])))
            var output: [UInt8] = []
            let found = failure { () throws(VaultError) in
                try opener.openChunk(chunk.span, number: number, isLast: false, appendingTo: &output)
            }
            #expect(found == category)
            #expect(output == (category == nil ? bytes : []))
        }
    }
}
