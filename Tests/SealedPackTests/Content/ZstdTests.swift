import SealedPack
import TestFiles
import Testing
import VaultBase

@Suite struct ZstdTests {
    private func compress(_ input: [UInt8], level: Int = 3) throws -> [UInt8]? {
        var output: [UInt8] = []
        guard try Zstd.compress(input.span, level: level, appendingTo: &output) else {
            #expect(output.isEmpty)
            return nil
        }
        return output
    }

    @Test(arguments: [100, 1_000, 65_536, 131_072, 131_073, 200_000, 524_288, 3_000_000])
    func contentIsUnchanged(count: Int) throws {
        for level in [1, 3, 12] {
            let input = prose(count)
            let frame = try #require(try compress(input, level: level))
            #expect(frame.count < count)
            #expect(try Zstd.decompress(frame.span, exactly: count) == input)
        }
    }

    @Test func frameIsAppended() throws {
        let input = prose(10_000)
        var output: [UInt8] = [1, 2, 3]
        #expect(try Zstd.compress(input.span, level: 3, appendingTo: &output))
        #expect(Array(output.prefix(3)) == [1, 2, 3])
        #expect(try Array(output.dropFirst(3)) == compress(input))
    }

    @Test func equalInputsGiveEqualFrames() throws {
        let input = prose(300_000)
        let frame = try compress(input)
        for _ in 0..<3 { #expect(try compress(input) == frame) }
    }

    @Test(arguments: [0, 1, 2, 3, 20, 1_000, 32_768, 131_072, 300_000])
    func incompressibleInputIsNotCompressed(count: Int) throws {
        for level in [3, 12] {
            var output: [UInt8] = [9]
            #expect(try !Zstd.compress(noise(count).span, level: level, appendingTo: &output))
            #expect(output == [9])
        }
    }

    @Test func frameOfEqualSizeIsNotUsed() throws {
        // The shortest run that a frame makes smaller; with one byte less the sizes are equal.
        let shortest = try #require(
            try (1...100).first { try compress([UInt8](repeating: 7, count: $0)) != nil })
        let frame = try #require(try compress([UInt8](repeating: 7, count: shortest)))
        #expect(frame.count == shortest - 1)
    }

    @Test func noiseWithOneCompressiblePartIsCompressed() throws {
        let input = noise(100_000) + prose(20_000) + noise(20_000)
        let frame = try #require(try compress(input))
        #expect(frame.count < 130_000)
        #expect(try Zstd.decompress(frame.span, exactly: input.count) == input)
    }

    @Test func slowLevelsFindRepeatedNoise() throws {
        let input = noise(60_000) + noise(60_000)
        let frame = try #require(try compress(input, level: 12))
        #expect(frame.count < 70_000)
    }

    @Test func contentMayBeZstd() throws {
        // Noise in frames stays noise; only many small frames compress.
        let inner = try #require(try compress(prose(2_000)))
        let input = Array(repeatElement(inner, count: 50).joined())
        let frame = try #require(try compress(input))
        #expect(try Zstd.decompress(frame.span, exactly: input.count) == input)
    }

    @Test(arguments: [-999_999, 23, 1_000_000])
    func unsupportedLevelsAreRefused(level: Int) async {
        await expectError(.usage) { try compress(prose(1_000), level: level) }
    }
}
