import SealedPack
import Synchronization
import SystemPackage
import TestFiles
import Testing
import VaultBase
import VaultFileSystem

/// A pack that is received in chunks of any size, from any offset, with failures.
@Suite struct ReceivingTests {
    private let packs: PackFolder
    private let parts: PackParts

    init() throws {
        packs = try PackFolder()
        parts = try packs.pack("sent", (0..<6).map { noise($0 % 2 == 0 ? 300 : 50_000, seed: $0) }).parts
    }

    /// An assembly with a verified tail.
    private func begun() async throws -> PackAssembly {
        var assembly = try packs.assembly(of: parts)
        _ = try await assembly.verifyTail()
        return assembly
    }

    /// Sends bytes of the pack in chunks, and optionally fails afterwards.
    private func send(
        _ range: Range<Int>, of bytes: [UInt8], inChunksOf size: Int, to assembly: inout PackAssembly,
        endingWith failure: VaultError? = nil
    ) async throws(VaultError) -> Int {
        let position = Mutex(range.lowerBound)
        return try await assembly.receive(
            at: UInt64(range.lowerBound),
            from: IncomingBytes { () throws(VaultError) -> [UInt8]? in
                let start = position.withLock { position in
                    defer { position = min(position + size, range.upperBound) }
                    return position
                }
                guard start < range.upperBound else {
                    if let failure { throw failure }
                    return nil
                }
                return Array(bytes[start..<min(start + size, range.upperBound)])
            }, progress: { _ in })
    }

    private func isComplete(_ assembly: inout PackAssembly) throws -> Bool {
        let wanted = try assembly.wanted()
        return try wanted == nil && packs.folder.bytes("part") == parts.bytes
    }

    /// Header and tail around the pieces are skipped, whatever the size of the chunks.
    @Test(arguments: [1, 7, 299, 300, 4_096, 65_536, 1 << 20]) func chunks(size: Int) async throws {
        var assembly = try await begun()
        #expect(
            try await send(0..<parts.bytes.count, of: parts.bytes, inChunksOf: size, to: &assembly) == 0)
        #expect(try isComplete(&assembly))
    }

    /// Bytes before a failure are kept, also those of an incomplete piece.
    @Test(arguments: [0, 1, 2, 3, 4, 5]) func readFailureInsideAPiece(inPiece number: Int) async throws {
        let lost = VaultError(.unavailable, "gone", at: "host", remedy: "none")
        var assembly = try await begun()
        let half = parts.place(number).lowerBound + 100
        await expectError(.unavailable, "gone") {
            try await send(64..<half, of: parts.bytes, inChunksOf: 1_000, to: &assembly, endingWith: lost)
        }
        let wanted = try #require(try assembly.wanted())
        #expect(wanted == UInt64(half)..<UInt64(parts.place(5).upperBound))
        _ = try await send(
            half..<parts.bytes.count, of: parts.bytes, inChunksOf: 1_000, to: &assembly)
        #expect(try isComplete(&assembly))
    }

    /// The host continues only after the complete piece is reported.
    @Test(.timeLimit(.minutes(1))) func verifiedPiecesAreReportedWhileHostIsSilent() async throws {
        var assembly = try await begun()
        let (reports, note) = AsyncStream.makeStream(of: UInt64.self)
        let (bytes, tail) = (
            parts.bytes, UInt64(assembly.pack.length) - 192 - UInt64(parts.place(5).upperBound - 64)
        )
        let ends = (0..<6).map { parts.place($0).upperBound }
        let sent = Mutex(64)
        let incoming = IncomingBytes { () throws(VaultError) -> [UInt8]? in
            let start = sent.withLock { $0 }
            if start > 64 {
                for await count in reports where count >= UInt64(start - 64) + tail { break }
            }
            guard let end = ends.first(where: { $0 > start }) else { return nil }
            sent.withLock { $0 = end }
            return Array(bytes[start..<end])
        }
        _ = try await assembly.receive(at: 64, from: incoming, progress: { note.yield($0) })
        #expect(try isComplete(&assembly))
    }

    /// After a failure the sender may continue, but bytes were lost.
    @Test(arguments: 0...3) func nothingIsReadAfterAFailure(pieces: Int) async throws {
        let lost = VaultError(.busy, "somebody wants it", at: "host", remedy: "none")
        var assembly = try await begun()
        let end = parts.place(pieces).lowerBound
        let chunks = Mutex([Array(parts.bytes[64..<end]), nil, Array(parts.bytes[(end + 1_000)...])][...])
        let error = await #expect(throws: VaultError.self) {
            try await assembly.receive(
                at: 64,
                from: IncomingBytes { () throws(VaultError) -> [UInt8]? in
                    guard let next = chunks.withLock({ $0.popFirst() }) else { return nil }
                    guard let next else { throw lost }
                    return next
                }, progress: { _ in })
        }
        #expect(error?.category == .busy)
        #expect(chunks.withLock { $0.count } == 1)
        #expect(try assembly.wanted() == UInt64(end)..<UInt64(parts.place(5).upperBound))
    }

    /// An index with one digest for pieces of different lengths is impossible.
    @Test(arguments: [0, 2]) func equalDigestsOfDifferentLengthsAreRefused(number: Int) async throws {
        var forged = parts
        // The piece after it is longer, or shorter, and claims its digest.
        let digest = Array(parts.index[(number * 36 + 4)..<(number * 36 + 36)])
        forged.index.replaceSubrange(((number + 1) * 36 + 4)..<((number + 1) * 36 + 36), with: digest)
        var assembly = try packs.assembly(of: forged)
        await expectError { try await assembly.verifyTail() }
    }

    /// A changed piece stays missing; three in a row end the transfer, and sound pieces are kept.
    @Test func threeWrongPiecesInARowEndTheTransfer() async throws {
        var bytes = parts.bytes
        bytes[parts.place(1).upperBound - 1] ^= 1
        var assembly = try await begun()
        #expect(try await send(0..<bytes.count, of: bytes, inChunksOf: 9_000, to: &assembly) == 1)
        let place = parts.place(1)
        #expect(try assembly.wanted() == UInt64(place.lowerBound)..<UInt64(place.upperBound))

        try FileSystem.removeFile(packs.folder.path.appending("part"))
        for number in 2...4 { bytes[parts.place(number).lowerBound] ^= 1 }
        bytes[parts.place(1).upperBound - 1] ^= 1
        assembly = try await begun()
        await expectError {
            try await send(0..<bytes.count, of: bytes, inChunksOf: 9_000, to: &assembly)
        }
        let rest = UInt64(parts.place(2).lowerBound)..<UInt64(parts.place(5).upperBound)
        #expect(try assembly.wanted() == rest)
    }

    /// The host that sent the wrong half is unknown, so the piece is requested again.
    @Test func wrongPieceOfTwoHostsBlamesNeither() async throws {
        var bytes = parts.bytes
        let place = parts.place(3)
        bytes[place.lowerBound] ^= 1
        var assembly = try await begun()
        _ = try await send(64..<(place.lowerBound + 100), of: bytes, inChunksOf: 9_000, to: &assembly)
        assembly.changeSender()
        let rest = (place.lowerBound + 100)..<bytes.count
        #expect(try await send(rest, of: bytes, inChunksOf: 9_000, to: &assembly) == 0)
        #expect(try assembly.wanted() == UInt64(place.lowerBound)..<UInt64(place.upperBound))
    }
}
