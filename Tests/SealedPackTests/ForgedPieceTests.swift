import Foundation
import SealedPack
import TestFiles
import Testing
import VaultBase

/// Hostile pieces and indexes of an attacker with the content key, with a matching catalog.
@Suite struct ForgedPieceTests {
    private let key: ContentKey
    private let place: PackPlace
    private let text = prose(3_000)
    private let frame: [UInt8]

    init() async throws {
        key = try await TestKey().contentKey()
        place = try PackPlace()
        var frame: [UInt8] = []
        #expect(try Zstd.compress(prose(3_000).span, level: 3, appendingTo: &frame))
        self.frame = frame
    }

    private func pack(_ message: [UInt8]) -> ForgedPack {
        var pack = ForgedPack(key: TestKey())
        pack.append("text", text, message: message)
        return pack
    }

    private func expectRefusal(
        _ message: [UInt8], _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let pack = pack(message)
        await place.expectRefusal(
            try pack.parts.bytes, asEachOf: [nil, try pack.manifest], with: key, comment,
            sourceLocation: sourceLocation)
    }

    @Test func honestPiecesOpen() async throws {
        for message in [[0] + text, [1] + frame] {
            let entries = try await place.read(try pack(message).parts.bytes, with: key)
            #expect(entries.map(\.bytes) == [text])
        }
    }

    @Test func wrongMessagesAreRefused() async throws {
        try await expectRefusal([2] + text, "codec 2")
        try await expectRefusal([255] + text, "codec 255")
        try await expectRefusal([1] + text, "no frame")
        try await expectRefusal([0] + frame, "a stored frame")
        try await expectRefusal([0] + text + [0], "longer")
        try await expectRefusal([0] + text.dropLast(), "shorter")
        try await expectRefusal([0], "no data")
        try await expectRefusal([1], "no frame's data")
        try await expectRefusal([0] + text.reversed(), "other bytes")
        try await expectRefusal([], "not even a codec")
    }

    /// A pack of a newer release must not be fetched again.
    @Test func newerCodecIsNotDamage() async throws {
        let error = await #expect(throws: VaultError.self) {
            _ = try await place.read(try pack([2] + text).parts.bytes, with: key)
        }
        #expect(error?.needsNewerRelease == true)
        #expect(error?.problem.contains("codec 2") == true)
        #expect(error?.description.contains("damaged") == false, "\(error?.description ?? "")")
    }

    /// Empty pieces are refused without any key.
    @Test func emptyPiecesAreRefused() async throws {
        for message: [UInt8] in [[], [0]] {
            try place.store(try pack(message).parts.bytes)
            let pack = try PackFile(opening: place.path, as: nil)
            await expectError { try await pack.check() }
        }
    }

    @Test func wrongFramesAreRefused() async throws {
        try await expectRefusal([1] + frame + frame, "two frames")
        let half = 1_500
        var parts: [UInt8] = [1]
        _ = try Zstd.compress(text.span.extracting(..<half), level: 3, appendingTo: &parts)
        _ = try Zstd.compress(text.span.extracting(half...), level: 3, appendingTo: &parts)
        try await expectRefusal(parts, "two frames that hold the right bytes together")
        try await expectRefusal([1] + frame + [0], "something behind")
        let skippable: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]
        try await expectRefusal([1] + skippable + frame, "a skippable frame before")
        try await expectRefusal([1] + frame + skippable, "a skippable frame behind")
        for count in stride(from: 0, to: frame.count, by: 7) {
            try await expectRefusal([1] + frame.prefix(count), "\(count) bytes of it")
        }
        var longer: [UInt8] = [1]
        _ = try Zstd.compress((text + text).span, level: 3, appendingTo: &longer)
        try await expectRefusal(longer, "more than the catalog says")
        var shorter: [UInt8] = [1]
        _ = try Zstd.compress(text.span.extracting(..<2_999), level: 3, appendingTo: &shorter)
        try await expectRefusal(shorter, "less than the catalog says")
    }

    /// A frame header that requests a window of 2^(10 + exponent) bytes, then the text as one raw block.
    private func rawFrame(windowExponent: UInt8) -> [UInt8] {
        let block = text.count << 3 | 1
        let size = (0..<3).map { UInt8(truncatingIfNeeded: block >> (8 * $0)) }
        return [0x28, 0xB5, 0x2F, 0xFD, 0, windowExponent << 3] + size + text
    }

    @Test func windowSizeIsLimited() async throws {
        let largest = try await place.read(
            try pack([1] + rawFrame(windowExponent: 14)).parts.bytes, with: key)
        #expect(largest.map(\.bytes) == [text])
        for exponent: UInt8 in [15, 17, 21, 31] {
            try await expectRefusal([1] + rawFrame(windowExponent: exponent), "2^\(exponent + 10)")
        }
    }

    /// 64 KiB that would expand to 2 GiB: run-length blocks of 128 KiB, 4 bytes each.
    @Test func zstdBombUsesLittleMemory() async throws {
        let run: [UInt8] = [0x02, 0x00, 0x10, 0x00]
        var bomb: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, 14 << 3]
        for _ in 0..<16_384 { bomb += run }
        let before = try peakMemory()
        try await expectRefusal([1] + bomb + [0x03, 0x00, 0x10, 0x00], "2 GiB of zeros")
        #expect(try peakMemory() - before < 1 << 30)
    }

    private func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber))) * 1024
    }

    /// A piece of 16 MiB opens; one byte more is refused, however well it is compressed.
    @Test func pieceOf16MiBOpens() async throws {
        for excess in [0, 1] {
            let zeros = [UInt8](repeating: 0, count: 16 << 20 + excess)
            var message: [UInt8] = [1]
            #expect(try Zstd.compress(zeros.span, level: 3, appendingTo: &message))
            var forged = ForgedPack(key: TestKey())
            forged.append("zeros", zeros, message: message)
            let bytes = try forged.parts.bytes
            guard excess == 0 else { return await place.expectRefusal(bytes, with: key) }
            var count = 0
            try await place.open(bytes, with: key).read(0..<16 << 20) { count += $0.count }
            #expect(count == 16 << 20)
        }
    }

    /// Messages with another context, key or key name.
    @Test func messagesOfOtherContextsAreRefused() async throws {
        var forged = pack([0] + text)
        for message in [
            try TestKey().message([0] + text, context: Array("assetvault/v1/catalog".utf8), under: "piece"),
            try TestKey().message([0] + text, context: [], under: "piece"),
            try TestKey().message([0] + text, context: Array("assetvault/v1/piece".utf8), under: "catalog"),
            try TestKey(8).piece([0] + text),
        ] {
            forged.index = []
            forged.index?.appendInteger(UInt32(message.count))
            forged.index? += message.sha256
            var parts = try forged.parts
            parts.pieces = [message]
            await place.expectRefusal(parts.bytes, with: key)
        }
    }

    @Test(arguments: [
        UInt32(0), 1, 55, 56, 71, 72, 73, 74, 16_456, 16_455, 3_071, 3_074, 16_793_657, 16_793_658, .max / 2,
        .max,
    ])
    func impossibleIndexLengthsAreRefused(_ count: UInt32) async throws {
        var forged = pack([0] + text)
        let truth = try forged.parts.index
        #expect(truth.integer(UInt32.self, at: 0) == 3_073)
        var index: [UInt8] = []
        index.appendInteger(count)
        forged.index = index + truth.dropFirst(4)
        await place.expectRefusal(
            try forged.parts.bytes, asEachOf: [nil, try forged.manifest], with: key)
    }

    /// Each length is possible, but their sum is less or more than the pieces.
    @Test func wrongIndexSumsAreRefused() async throws {
        var forged = ForgedPack(key: TestKey(), files: [("a", [1, 2, 3]), ("b", [4, 5, 6])])
        let parts = try forged.parts
        for change in [-1, 1] {
            var index: [UInt8] = []
            index.appendInteger(UInt32(parts.pieces[0].count + change))
            forged.index = index + parts.index.dropFirst(4)
            await place.expectRefusal(try forged.parts.bytes, with: key, content: forged.content)
        }
        // Two lengths change, their sum does not.
        var index: [UInt8] = []
        index.appendInteger(UInt32(parts.pieces[0].count + 1))
        index += parts.index[4..<36]
        index.appendInteger(UInt32(parts.pieces[1].count - 1))
        forged.index = index + parts.index[40...]
        await place.expectRefusal(try forged.parts.bytes, with: key, content: forged.content)
    }

    /// Footers with numbers that overflow when they are added up.
    @Test func overflowingFootersAreRefused() async throws {
        let parts = try pack([0] + text).parts
        let footer = Array(parts.bytes.suffix(128))
        for offset in [0, 16, 24] {
            for value: UInt64 in [
                0, 1, 63, 64, 1 << 31, 1 << 31 + 1, 1 << 32, .max / 2, .max / 2 + 1, .max - 128, .max,
            ] {
                var changed = parts
                var bytes: [UInt8] = []
                bytes.appendInteger(value)
                changed.footer = footer[..<offset] + bytes + footer[(offset + 8)...]
                if changed.footer == footer { continue }
                await place.expectRefusal(changed.bytes, with: key, .corrupt, "\(value) at \(offset)")
            }
        }
        for value: UInt32 in [0, 2, 1 << 21, 1 << 21 + 1, .max] {
            var changed = parts
            var bytes: [UInt8] = []
            bytes.appendInteger(value)
            changed.footer = footer[..<8] + bytes + footer[12...]
            await place.expectRefusal(changed.bytes, with: key, .corrupt, "\(value) pieces")
        }
    }
}
