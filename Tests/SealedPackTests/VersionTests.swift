import Sampling
import SealedPack
import TestFiles
import Testing
import VaultAuthoring
import VaultBase

/// Sealing one version after another: unchanged pieces are reused.
@Suite struct VersionTests {
    private let key: ContentKey
    private let place: PackPlace

    init() async throws {
        key = try await TestKey().contentKey()
        place = try PackPlace()
    }

    /// Opens a sealed pack as the previous version.
    private func previous(_ sealed: Sealed) throws -> OpenPack {
        try place.open(sealed.bytes, as: sealed.manifest.json, with: key)
    }

    private func newPieces(of second: Sealed, after first: Sealed) -> Int {
        let old = Set(first.parts.pieces)
        return second.parts.pieces.count { !old.contains($0) }
    }

    @Test func piecesAreReusedAcrossVersions() async throws {
        var source = try Source.small(text: "first")
        source.files["large"] = noise(900_000)
        let first = try await seal(source, key: key)
        var changed = try Source.small(text: "second")
        changed.files["large"] = noise(400_000, seed: 2) + noise(900_000)
        changed.files["levels/7"] = nil
        let second = try await seal(
            changed, key: key, .following(), previous: try previous(first))
        #expect(second.manifest.version == 2)
        #expect(second.result.reusedPieces > 0)
        #expect(second.bytes != first.bytes)
        let back = try await seal(source, key: key, .exactly(1), previous: try previous(second))
        #expect(back.result.reusedPieces > 0)
        #expect(back.bytes == first.bytes)
    }

    @Test func unchangedContentKeepsTheVersion() async throws {
        let source = try Source.small()
        let first = try await seal(source, key: key, .exactly(7))
        let again = try await seal(
            source, key: key, .following(), previous: try previous(first))
        #expect(again.bytes == first.bytes)
        #expect(again.manifest == first.manifest)
        #expect(again.result.reusedPieces == first.manifest.pieceCount)
    }

    /// Paths, modes and bytes are part of the content.
    @Test func everyChangeMakesANewVersion() async throws {
        let source = try Source.small()
        let first = try await seal(source, key: key)
        let versions = [
            { $0.files["new"] = [] }, { $0.files["title"] = nil }, { $0.executables = [] },
            { $0.emptyFolders = [] }, { $0.files["title"]?[0] ^= 1 },
            { (source: inout Source) in
                source.files["title2"] = source.files["title"]
                source.files["title"] = nil
            },
        ].map { (change: (inout Source) -> Void) in
            var changed = source
            change(&changed)
            return changed
        }
        for changed in versions {
            let next = try await seal(changed, key: key, .following(), previous: try previous(first))
            #expect(next.manifest.version == 2)
        }
    }

    /// Only the piece of that small file changes.
    @Test func changedSmallFileChangesOnePiece() async throws {
        var source = Source()
        for number in 0..<400 {
            source.files["maps/\(number)/info"] = prose(2_000 + number % 3_000, seed: number)
        }
        source.files["music"] = noise(2_000_000)
        let first = try await seal(source, key: key)
        #expect(first.parts.pieces.count > 20)
        for path in ["maps/0/info", "maps/200/info", "maps/99/info"].sample(1, for: "oneSmallFileChanged") {
            var changed = source
            changed.files[path] = prose(2_345, seed: 9_999)
            let second = try await seal(changed, key: key, .exactly(2), previous: try previous(first))
            #expect((1...2).contains(newPieces(of: second, after: first)), "\(path)")
            changed.files[path] = nil
            let third = try await seal(changed, key: key, .exactly(3), previous: try previous(first))
            #expect(newPieces(of: third, after: first) <= 2, "\(path)")
        }
    }

    @Test func insertionIntoALargeFileChangesFewPieces() async throws {
        let megabytes = Sampling.isWhole ? 60 : 12
        var source = Source(files: ["title": prose(200), "world.pak": noise(megabytes * 1_000_000)])
        let first = try await seal(source, key: key)
        #expect(first.parts.pieces.count > 5 * megabytes)
        source.files["world.pak"]?.insert(contentsOf: prose(1_024), at: 5_000)
        let second = try await seal(source, key: key, .exactly(2), previous: try previous(first))
        #expect((1...3).contains(newPieces(of: second, after: first)))
        #expect(second.result.reusedPieces >= first.manifest.pieceCount - 3)
    }

    /// A previous pack of an attacker with the key: its catalog matches the source, its piece does not.
    @Test func forgedPieceIsNotReused() async throws {
        // Up to 32 KiB a file alone is one piece, so that the forged one is looked at.
        let source = Source(files: ["file": noise(30_000)])
        let honest = try await seal(source, key: key)
        var forged = ForgedPack(key: TestKey())
        forged.append("file", source.files["file"] ?? [], message: [0] + noise(30_000, seed: 66))
        let liar = try place.open(try forged.parts.bytes, with: key)
        let sealed = try await seal(source, key: key, previous: liar)
        #expect(sealed.result.reusedPieces == 0)
        #expect(sealed.bytes == honest.bytes)
        // The pieces of the same pack without the forgery are reused.
        forged.pieces[0].message = [0] + (source.files["file"] ?? [])
        let friend = try place.open(try forged.parts.bytes, with: key)
        #expect(try await seal(source, key: key, previous: friend).result.reusedPieces == 1)
    }

    /// Unchanged content keeps the pack's bytes, even if libzstd compresses the catalog differently.
    @Test func catalogOfTheSameContentIsReused() async throws {
        var source = Source()
        var forged = ForgedPack(key: TestKey())
        var content: [UInt8] = []
        for number in 100..<160 {
            let bytes = noise(10, seed: number)
            content += bytes
            source.files["file \(number)"] = bytes
            forged.entries.append(
                ForgedPack.Entry(path: Array("file \(number)".utf8), end: UInt64(content.count)))
        }
        forged.pieces = [
            ForgedPack.Piece(message: [0] + content, end: UInt64(content.count), digest: content.sha256)
        ]
        let bytes = try forged.parts.bytes
        let earlier = try place.open(bytes, with: key)
        #expect(try await seal(source, key: key).bytes != bytes)
        let again = try await seal(source, key: key, .following(), previous: earlier)
        #expect(again.bytes == bytes)
        source.files["file 1"] = [1]
        let next = try await seal(source, key: key, .following(), previous: earlier)
        #expect(next.manifest.version == 2)
    }

    /// A damaged piece of the previous pack is sealed again.
    @Test func damagedPieceIsNotReused() async throws {
        let source = try Source.small()
        let first = try await seal(source, key: key)
        var bytes = first.bytes
        bytes[64 + 100] ^= 1
        let rotten = try place.open(bytes, as: first.manifest.json, with: key)
        let again = try await seal(source, key: key, previous: rotten)
        #expect(again.result.reusedPieces == first.manifest.pieceCount - 1)
        #expect(again.bytes == first.bytes)
    }

    @Test func unrelatedPreviousPacksAreRefused() async throws {
        let source = try Source.small()
        let first = try await seal(source, key: key)
        await expectError(.usage) {
            try await seal(source, key: key, id: "levels/two", previous: try previous(first))
        }
        let other = try await TestKey(8).contentKey()
        await expectError(.key) {
            try await seal(source, key: other, previous: try previous(first))
        }
    }

    @Test(arguments: [0, 1 << 53, UInt64.max]) func versionsOutOfRangeAreRefused(_ version: UInt64)
        async throws
    {
        await expectError(.usage) {
            try await seal(Source(), key: key, .exactly(version))
        }
    }

    @Test func versionAfterTheLargestIsRefused() async throws {
        let last = try await seal(Source(), key: key, .exactly(1 << 53 - 1))
        _ = try previous(last)
        await expectError(.usage) {
            try await seal(Source(files: ["a": [1]]), key: key, .following(), previous: try previous(last))
        }
    }
}
