import SealedPack
import TestFiles
import Testing
import VaultBase

@Suite struct HostileZstdTests {
    private let content: [UInt8]
    private let frame: [UInt8]

    init() throws {
        let content = prose(5_000)
        var frame: [UInt8] = []
        _ = try Zstd.compress(content.span, level: 3, appendingTo: &frame)
        self.content = content
        self.frame = frame
    }

    private func expectCorrupt(
        _ frame: [UInt8], exactly count: Int, _ problem: String? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: VaultError.self, sourceLocation: location) {
            try Zstd.decompress(frame.span, exactly: count)
        }
        #expect(error?.category == .corrupt, sourceLocation: location)
        guard let problem else { return }
        #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")", sourceLocation: location)
    }

    /// A frame of raw blocks with the given header.
    private func handmade(descriptor: UInt8, _ header: [UInt8], _ content: [UInt8]) -> [UInt8] {
        let size = content.count << 3 | 1
        let block = [UInt8(size & 0xFF), UInt8(size >> 8 & 0xFF), UInt8(size >> 16 & 0xFF)]
        return [0x28, 0xB5, 0x2F, 0xFD, descriptor] + header + block + content
    }

    @Test func handmadeFramesAreRead() throws {
        // A window of 1 KiB, of exactly 16 MiB, and single segments with every width of content size.
        let content = noise(300)
        for frame in [
            handmade(descriptor: 0, [0], content), handmade(descriptor: 0, [14 << 3], content),
            handmade(descriptor: 0x60, [44, 0], content), handmade(descriptor: 0xA0, [44, 1, 0, 0], content),
            handmade(descriptor: 0xE0, [44, 1, 0, 0, 0, 0, 0, 0], content),
        ] {
            #expect(try Zstd.decompress(frame.span, exactly: 300) == content)
        }
        #expect(
            try Zstd.decompress(handmade(descriptor: 0x20, [3], [1, 2, 3]).span, exactly: 3) == [1, 2, 3])
    }

    @Test func everyTruncationIsRefused() {
        for count in 0..<frame.count { expectCorrupt(Array(frame.prefix(count)), exactly: content.count) }
    }

    @Test func bytesAfterTheFrameAreRefused() throws {
        expectCorrupt(frame + [0], exactly: content.count, "follows")
        expectCorrupt(frame + frame, exactly: 2 * content.count, "follows")
        expectCorrupt(frame + frame, exactly: content.count, "follows")
        expectCorrupt(frame + [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0], exactly: content.count, "follows")
    }

    @Test func skippableFramesAreRefused() {
        let skippable: [UInt8] = [0x5F, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]
        expectCorrupt(skippable, exactly: 4, "not a zstd frame")
        expectCorrupt(skippable + frame, exactly: content.count, "not a zstd frame")
    }

    @Test func otherContentLengthsAreRefused() {
        for count in [0, 1, content.count - 1, content.count + 1, 2 * content.count] {
            expectCorrupt(frame, exactly: count)
        }
        expectCorrupt(frame, exactly: content.count - 1, "longer")
        expectCorrupt(frame, exactly: content.count + 1, "shorter")
        expectCorrupt(handmade(descriptor: 0x20, [4], [1, 2, 3]), exactly: 3, "declares another length")
    }

    @Test func hugeWindowsAreRefused() {
        // 16 MiB and an eighth; 128 MiB; the largest there is, 3.75 TiB; a single segment of 2^40 bytes.
        expectCorrupt(handmade(descriptor: 0, [14 << 3 | 1], [1]), exactly: 1, "window")
        expectCorrupt(handmade(descriptor: 0, [17 << 3], [1]), exactly: 1, "window")
        expectCorrupt(handmade(descriptor: 0, [0xFF], [1]), exactly: 1, "window")
        expectCorrupt(handmade(descriptor: 0xE0, [0, 0, 0, 0, 0, 1, 0, 0], [1]), exactly: 1 << 40, "window")
    }

    @Test func unsupportedFeaturesAreRefused() {
        expectCorrupt(handmade(descriptor: 0x01, [0, 7], [1]), exactly: 1, "dictionary")
        expectCorrupt(handmade(descriptor: 0x08, [0], [1]), exactly: 1, "reserved bit")
        expectCorrupt([0x28, 0xB5, 0x2F, 0xFD, 0, 0, 7, 0, 0], exactly: 1, "reserved kind")
        expectCorrupt(handmade(descriptor: 0, [0], noise(1_025)), exactly: 1_025, "oversized block")
    }

    @Test func zstdBombsStopAtTheExpectedLength() {
        // 2^17 bytes a block from 4 bytes of input: 128 MiB in all.
        let block: [UInt8] = [0x02, 0x00, 0x10, 0]
        let bomb =
            [0x28, 0xB5, 0x2F, 0xFD, 0, 14 << 3] + Array(repeatElement(block, count: 1_024).joined()) + [
                1, 0, 0,
            ]
        expectCorrupt(bomb, exactly: 100, "longer")
        #expect(throws: Never.self) { try Zstd.decompress(bomb.span, exactly: 128 << 20) }
    }

    @Test func flippedBitsNeverTrap() {
        for index in frame.indices {
            for bit in 0..<8 {
                var damaged = frame
                damaged[index] ^= 1 << UInt8(bit)
                // Without a checksum some damage is detected only by the pack's digests.
                do throws(VaultError) {
                    let result = try Zstd.decompress(damaged.span, exactly: content.count)
                    #expect(result.count == content.count)
                } catch {
                    #expect(error.category == .corrupt)
                }
            }
        }
    }

    @Test func noiseNeverTraps() {
        for seed in 0..<500 {
            expectCorrupt([0x28, 0xB5, 0x2F, 0xFD] + noise(seed % 60, seed: seed), exactly: 64)
        }
    }
}
