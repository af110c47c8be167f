import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

@testable import SealedPack

/// The pieces of the files that are wanted first are requested first, and nothing else depends on them.
@Suite struct FirstPiecesTests {
    private let key: ContentKey
    private let source: Source

    init() async throws {
        key = try await TestKey().contentKey()
        var source = Source()
        source.files["a"] = noise(1_500_000, seed: 1)
        source.files["b/one"] = noise(90_000, seed: 2)
        source.files["b/two"] = noise(90_000, seed: 3)
        source.files["c"] = noise(1_500_000, seed: 4)
        source.files["d/copy of b/two"] = source.files["b/two"]
        source.files["e"] = noise(90_000, seed: 5)
        source.files["nothing"] = []
        self.source = source
    }

    /// The requests for the pack, in their order, answered one after the other.
    private func requests(for sealed: Sealed) async throws -> [Range<UInt64>] {
        let folder = try TemporaryFolder()
        let file = try OpenFile(creating: folder.path.appending("part"), permissions: 0o600)
        var assembly = try PackAssembly(OpenFileReference(file), of: sealed.manifest)
        var asked: [Range<UInt64>] = []
        while let wanted = try assembly.wanted() {
            asked.append(wanted)
            try #require(asked.count < 100)
            let bytes = Array(sealed.bytes[Int(wanted.lowerBound)..<Int(wanted.upperBound)])
            let chunks = Chunks([bytes])
            _ = try await assembly.receive(
                at: wanted.lowerBound, from: IncomingBytes { () throws(VaultError) in await chunks.next() },
                progress: { _ in })
            _ = try await assembly.verifyTail()
        }
        #expect(try folder.bytes("part") == sealed.bytes)
        return asked
    }

    private actor Chunks {
        private var rest: [[UInt8]]
        init(_ chunks: [[UInt8]]) { rest = chunks }
        func next() -> [UInt8]? { rest.isEmpty ? nil : rest.removeFirst() }
    }

    /// Where the pieces of a file are in the pack.
    private func place(of path: String, in sealed: Sealed) async throws -> Range<UInt64> {
        let folder = try TemporaryFolder()
        let pack = try OpenPack(
            PackFile(opening: try folder.write("pack", sealed.bytes), as: sealed.manifest), key: key)
        let entry = try #require(pack.catalog.entry(at: EntryPath(path)))
        let ranges = pack.byteRanges(ofPieces: Array(pack.catalog.pieces(containing: entry.content)))
        return try #require(ranges.count == 1 ? ranges[0] : nil)
    }

    @Test func theOrderOfRequests() async throws {
        let plain = try await seal(source, key: key)
        #expect(plain.manifest.first.count == 0)
        // Two stretches: a copy of another file is not asked for.
        #expect(try await requests(for: plain).count == 3)
        let sealed = try await seal(source, key: key, first: ["e", "b/**", "nothing", "absent"])
        let (e, one, two) = (
            try await place(of: "e", in: sealed), try await place(of: "b/one", in: sealed),
            try await place(of: "b/two", in: sealed)
        )
        let asked = try await requests(for: sealed)
        #expect(asked.dropFirst().prefix(2) == [e, one.lowerBound..<two.upperBound])
        // The rest, in the order of the pack.
        #expect(asked.count == 5 && asked[3].lowerBound == 64 && asked[4].lowerBound == two.upperBound)
    }

    /// The first pattern that a file matches counts.
    @Test func theOrderOfPatterns() async throws {
        let sealed = try await seal(source, key: key, first: ["b/two", "e", "b/*"])
        var expected: [Range<UInt64>] = []
        for path in ["b/two", "e", "b/one"] { expected.append(try await place(of: path, in: sealed)) }
        #expect(try await requests(for: sealed).dropFirst().starts(with: expected))
    }

    /// A client gets equal pieces once, where the first of them is.
    @Test func aCopyOfALaterFile() async throws {
        let sealed = try await seal(source, key: key, first: ["d/**"])
        let place = try await place(of: "b/two", in: sealed)
        #expect(try await requests(for: sealed).dropFirst().first == place)
    }

    /// The bytes of a pack do not depend on what comes first.
    @Test func theSameBytes() async throws {
        let plain = try await seal(source, key: key)
        let first = try await seal(source, key: key, first: ["e", "b/**"])
        #expect(first.bytes == plain.bytes && first.manifest != plain.manifest)
        #expect(try await seal(source, key: key, first: ["e", "b/**"]).manifest == first.manifest)
    }

    /// Everything first is as nothing first, and costs no request more.
    @Test func everything() async throws {
        let sealed = try await seal(source, key: key, first: ["**"])
        #expect(sealed.manifest.first.count > 10)
        #expect(try await requests(for: sealed) == requests(for: seal(source, key: key)))
    }

    /// No piece is listed twice: neither one that was sent along before, nor one that would be sent along now.
    @Test func piecesNearEachOther() {
        var first = FirstPieces()
        for piece in [10, 4, 1, 6, 3, 12] {
            let isAdded = first.add(piece, bridging: 5)
            #expect(isAdded)
        }
        let pieces = first.stretches.flatMap(Array.init)
        #expect(
            Set(pieces).count == pieces.count && Set(pieces).isSuperset(of: [10, 4, 1, 6, 3, 12]), "\(pieces)"
        )
    }

    /// What is near is sent along, and no more stretches are listed than a manifest may have.
    @Test func theNumberOfRequests() async throws {
        var source = Source()
        for number in 0..<700 { source.files["files/\(1_000 + number)"] = noise(9_000, seed: number) }
        let every = (0..<700).map { "files/\(1_700 - 1 - $0)" }
        let reversed = try await seal(source, key: key, first: every)
        let first = reversed.manifest.first
        #expect(first.count == 256, "one piece a stretch: each stands before the one that was added last")
        let json = reversed.manifest.json
        #expect(try PackManifest(parsing: json, place: "test") == reversed.manifest)
        // Every second one of a hundred, in their order.
        let some = try await seal(source, key: key, first: (0..<50).map { "files/\(1_000 + 2 * $0)" })
        #expect(some.manifest.first.count == 99)
        #expect(try await requests(for: some).count == 3)
    }
}
