import SealedPack
import Synchronization
import SystemPackage
import TestFiles
import Testing
import VaultBase
import VaultFileSystem

/// Assembling a pack from the pieces of other packs.
@Suite struct PieceReuseTests {
    private let packs: PackFolder
    private let old: [[UInt8]]

    init() throws {
        packs = try PackFolder()
        old = (0..<6).map { noise(100_000, seed: $0) }
    }

    /// An assembly of `new` with a verified tail.
    private func begun(_ new: PackParts) async throws -> PackAssembly {
        var assembly = try packs.assembly(of: new, version: 2)
        let isSound = try await assembly.verifyTail()
        let isTailUnverified = assembly.isTailUnverified
        #expect(isSound && !isTailUnverified)
        return assembly
    }

    /// The pieces of each request until the pack is complete.
    private func finish(_ assembly: consuming PackAssembly, of new: PackParts) async throws -> [Range<Int>] {
        let bytes = new.bytes
        var asked: [Range<Int>] = []
        var assembly = assembly
        while let wanted = try assembly.wanted(), asked.count < 20 {
            asked.append(Int(wanted.lowerBound)..<Int(wanted.upperBound))
            let part = Mutex<[UInt8]?>(Array(bytes[asked[asked.count - 1]]))
            let incoming = IncomingBytes { () throws(VaultError) in part.withLock { $0.take() } }
            _ = try await assembly.receive(at: wanted.lowerBound, from: incoming, progress: { _ in })
        }
        let count = assembly.presentLength
        #expect(count == UInt64(bytes.count))
        _ = try assembly.finish()
        #expect(try packs.folder.bytes("part") == bytes)
        return asked
    }

    private func reuse(_ others: [PackFile], for assembly: inout PackAssembly) async throws -> [UInt64] {
        var next = others[...]
        var told: [UInt64] = []
        try await assembly.reuse(from: { next.popFirst() }, progress: { told.append($0) })
        return told
    }

    @Test func piecesAreCopiedFromSeveralPacks() async throws {
        let changed = noise(100_000, seed: 77)
        let new = try packs.pack("new", [old[4], old[0], changed, old[1], old[5]]).parts
        let first = try packs.pack("first", Array(old[..<2])).file
        let second = try packs.pack("second", Array(old[2...])).file
        var assembly = try await begun(new)
        let told = try await reuse([first, second], for: &assembly)
        #expect(told.count == 4 && told == told.sorted())
        #expect(told.last == UInt64(new.bytes.count - new.pieces[2].count))
        #expect(try await finish(assembly, of: new) == [new.place(2)])
    }

    /// Only packs with a missing piece are named, and those of which nothing is known.
    @Test func aDirectoryNamesThePacks() async throws {
        let new = try packs.pack("new", [old[4], old[0]]).parts
        let others = try (0..<5).map { try packs.pack("\($0)", [old[$0], old[5]]).file }
        var assembly = try await begun(new)
        for (limit, expected) in [(1 << 20, [0, 4]), (8, [0, 4]), (7, [0, 1, 4])] as [(Int, Set<UInt32>)] {
            var directory = PieceDirectory(limit: limit)
            for (number, pack) in others.enumerated().reversed() { directory.add(pack, as: UInt32(number)) }
            let missing = try assembly.missingPieces()
            #expect(missing.count == 2 && directory.packs(with: missing) == expected, "\(limit)")
        }
        _ = try await reuse(others, for: &assembly)
        let rest = try assembly.missingPieces()
        #expect(rest.isEmpty)
        _ = try await finish(assembly, of: new)
    }

    @Test func noMorePacksAreOpenedThanNeeded() async throws {
        let new = try packs.pack("new", Array(old[..<3])).parts
        let whole = try packs.pack("whole", old).file
        var assembly = try await begun(new)
        var asked = 0
        try await assembly.reuse(
            from: {
                asked += 1
                return whole
            }, progress: { _ in })
        #expect(asked == 1)
        #expect(try await finish(assembly, of: new) == [])
    }

    /// A source whose pieces do not match its index, and one that is truncated while it is open.
    @Test(arguments: [true, false]) func damagedSourcePackIsTolerated(isCut: Bool) async throws {
        let parts = try packs.pack("old", old).parts
        let lying = try packs.file("lying", parts.bytes)
        let file = try OpenFile(updating: packs.folder.path.appending("lying"))
        if isCut {
            try file.truncate(to: UInt64(parts.place(3).lowerBound + 5))
        } else {
            let flipped = [parts.pieces[3][10] ^ 1]
            try file.write(flipped.span, at: UInt64(parts.place(3).lowerBound + 10))
        }
        let new = try packs.pack("new", old).parts
        var assembly = try await begun(new)
        let told = try await reuse([lying], for: &assembly)
        // Without the footer its pieces can't be located.
        #expect(told.count == (isCut ? 0 : 5))
        let rest = isCut ? new.place(0).lowerBound..<new.place(5).upperBound : new.place(3)
        #expect(try await finish(assembly, of: new) == [rest])
    }

    /// A source is told which of its pieces are what its index says.
    @Test func aSourceIsTold() async throws {
        let parts = try packs.pack("old", old).parts
        let source = RecordingSource(pack: try packs.file("lying", parts.bytes))
        let file = try OpenFile(updating: packs.folder.path.appending("lying"))
        let flipped = [parts.pieces[3][10] ^ 1]
        try file.write(flipped.span, at: UInt64(parts.place(3).lowerBound + 10))
        var assembly = try await begun(try packs.pack("new", old).parts)
        var next: (any PieceSource)? = source
        try await assembly.reuse(from: { next.take() }, progress: { _ in })
        let wrong = source.told.withLock { $0.filter { !$0.value }.map(\.key.lowerBound) }
        #expect(source.told.withLock { $0.count } == 6)
        #expect(wrong == [UInt64(parts.place(3).lowerBound)])
    }

    /// A duplicate piece is requested once, copied once, and found by the next attempt.
    @Test func duplicatePiecesAreFetchedOnce() async throws {
        let (twin, other) = (old[0], old[1])
        let new = try packs.pack("new", [twin, other, twin, twin]).parts
        #expect(
            try await finish(try await begun(new), of: new) == [
                new.place(0).lowerBound..<new.place(1).upperBound
            ])

        try FileSystem.removeFile(packs.folder.path.appending("part"))
        var assembly = try await begun(new)
        let held = try packs.pack("held", [twin]).file
        #expect(try await reuse([held], for: &assembly).count == 1)
        #expect(try await finish(assembly, of: new) == [new.place(1)])

        // An earlier attempt left the second of three.
        try FileSystem.removeFile(packs.folder.path.appending("part"))
        let path = packs.folder.path.appending("part")
        let json = new.manifest(id: "levels/one", version: 2, openedSize: 1)
        let pack = try PackManifest(parsing: json, place: "test")
        var bytes = [UInt8](repeating: 0, count: new.bytes.count)
        bytes.replaceSubrange(new.place(2), with: new.pieces[2])
        let tail = new.place(3).upperBound..<(bytes.count - 128)
        bytes.replaceSubrange(tail, with: new.bytes[tail])
        try packs.folder.write("part", bytes, permissions: 0o600)
        var again = try PackAssembly(OpenFileReference(try OpenFile(updating: path)), of: pack)
        _ = try await again.verifyTail()
        #expect(try await finish(again, of: new) == [new.place(1)])
    }

    /// Present pieces that are received again are skipped.
    @Test func presentPiecesInARequestAreSkipped() async throws {
        let small = noise(3_000, seed: 50)
        let pieces = [old[0], small, old[1], old[2], old[3]]
        let new = try packs.pack("new", pieces).parts
        let held = try packs.pack("held", [small, old[2]]).file
        var assembly = try await begun(new)
        _ = try await reuse([held], for: &assembly)
        let ranges = [new.place(0).lowerBound..<new.place(2).upperBound, new.place(4)]
        #expect(try await finish(assembly, of: new) == ranges)
    }
}

/// A sealed pack that records what it is told.
private final class RecordingSource: PieceSource {
    let pack: PackFile
    let told = Mutex<[Range<UInt64>: Bool]>([:])

    init(pack: PackFile) { self.pack = pack }

    func has(pieceAt range: Range<UInt64>) -> Bool { true }

    func noteVerification(of range: Range<UInt64>, isSound: Bool) { told.withLock { $0[range] = isSound } }
}
