import SealedPack
import TestFiles
import Testing
import VaultBase

/// What an update costs, computed from indexes.
@Suite struct UpdateCostTests {
    private let packs: PackFolder

    init() throws { packs = try PackFolder() }

    @Test func costWithoutSources() throws {
        let small = try packs.pack("small", [noise(200_000)])
        let whole = try UpdateCost(of: small.file, reusing: [])
        #expect(whole.bytes == small.file.length && whole.requests == 1)
        #expect(whole.pieces == 1 && whole.reusedPieces == 0)
        let large = try packs.pack("large", (0..<4).map { noise(100_000, seed: $0) })
        let parts = try UpdateCost(of: large.file, reusing: [])
        // The tail, then all pieces in one request; header and footer are known.
        #expect(parts.bytes == large.file.length - 64 - 128 && parts.requests == 2)
        #expect(parts.length == large.file.length && parts.pieces == 4 && parts.reusedPieces == 0)
    }

    @Test func costOfOneChangedPiece() throws {
        let old = (0..<8).map { noise(100_000, seed: $0) }
        var new = old
        new[5] = noise(90_000, seed: 99)
        let (held, file) = (try packs.pack("old", old).file, try packs.pack("new", new))
        let cost = try UpdateCost(of: file.file, reusing: [held])
        #expect(cost.bytes == UInt64(file.parts.tailLength + file.parts.pieces[5].count))
        #expect(cost.requests == 2 && cost.pieces == 8 && cost.reusedPieces == 7)
        // Only the tail.
        let same = try UpdateCost(of: file.file, reusing: [held, file.file])
        #expect(same.bytes == UInt64(file.parts.tailLength) && same.requests == 1 && same.reusedPieces == 8)
    }

    /// A small gap costs less than another request, a larger one more.
    @Test func nearbyPiecesShareARequest() throws {
        let gaps = [1_000, 100_000, 2_000, 1_500]
        let old = gaps.enumerated().map { noise($1, seed: $0) }
        var new: [[UInt8]] = [noise(50_000, seed: 40)]
        new += [old[0], noise(50_000, seed: 41), old[1], noise(50_000, seed: 42)]
        // Two small gaps, together cheaper than a request; then present pieces after the last missing one.
        new += [old[2], old[3], noise(50_000, seed: 43), old[0]]
        let (held, file) = (try packs.pack("old", old).file, try packs.pack("new", new))
        let cost = try UpdateCost(of: file.file, reusing: [held])
        let ranges = [(0, 2), (4, 7)].map {
            file.parts.place($0).lowerBound..<file.parts.place($1).upperBound
        }
        #expect(cost.bytes == UInt64(file.parts.tailLength + ranges.reduce(0) { $0 + $1.count }))
        #expect(cost.requests == 3 && cost.reusedPieces == 5)
    }

    /// Crafted collisions would make the search quadratic.
    @Test(arguments: [8, 9]) func craftedPrefixCollisionsAreRefused(count: Int) async throws {
        var parts = try packs.pack("honest", (0..<count).map { noise(9_000, seed: $0) }).parts
        for number in 0..<count {
            parts.index.replaceSubrange(
                (36 * number + 4)..<(36 * number + 12), with: [UInt8](repeating: 7, count: 8))
        }
        let file = try packs.file("made up", parts.refooted)
        if count == 8 {
            #expect(try UpdateCost(of: file, reusing: [file]).reusedPieces == 8)
        } else {
            await expectError { try UpdateCost(of: file, reusing: [file]) }
        }
    }

    @Test func duplicatePiecesCostOnce() throws {
        let twin = noise(120_000)
        let file = try packs.pack("new", [twin, noise(120_000, seed: 2), twin, twin])
        let cost = try UpdateCost(of: file.file, reusing: [])
        #expect(cost.bytes == UInt64(file.parts.tailLength + file.parts.place(1).upperBound - 64))
        #expect(cost.requests == 2 && cost.reusedPieces == 2)
    }

    /// Records before the damage are used.
    @Test func damagedIndexOfASourceIsTolerated() throws {
        let old = (0..<4).map { noise(100_000, seed: $0) }
        var parts = try packs.pack("old", old).parts
        parts.index[36 * 2 + 10] ^= 1
        let damaged = try packs.file("damaged", parts.bytes)
        parts.index.replaceSubrange(36 * 2..<36 * 2 + 4, with: [0xFF, 0xFF, 0xFF, 0xFF])
        let broken = try packs.file("broken", parts.bytes)
        let new = try packs.pack("new", old + [noise(100_000, seed: 9)]).file
        #expect(try UpdateCost(of: new, reusing: [damaged]).reusedPieces == 3)
        #expect(try UpdateCost(of: new, reusing: [broken]).reusedPieces == 2)
        #expect(throws: VaultError.self) { try UpdateCost(of: broken, reusing: []) }
    }
}
