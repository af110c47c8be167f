import SealedPack
import SystemPackage
import TestFiles
import Testing
import VaultBase
import VaultFileSystem

/// Random access, look-ups, and the whole tree.
@Suite struct OpenPackReadingTests {
    private let key: ContentKey
    private let place: PackPlace

    init() async throws {
        key = try await TestKey().contentKey()
        place = try PackPlace()
    }

    private func bytes(_ range: Range<UInt64>, of pack: OpenPack) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        try await pack.read(range) { span in for index in span.indices { bytes.append(span[index]) } }
        return bytes
    }

    private func extracted(_ pack: OpenPack) async throws -> [MemorySink.Entry] {
        var sink = MemorySink()
        try await pack.extract(to: &sink)
        return sink.entries
    }

    /// Files and pieces with common and different ends.
    private func pieced() throws -> OpenPack {
        var forged = ForgedPack(key: TestKey())
        for (path, size) in [("a", 5), ("b", 0), ("c", 3), ("d", 4), ("e", 0), ("f", 1)] {
            forged.entries.append(
                ForgedPack.Entry(path: Array(path.utf8), end: (forged.entries.last?.end ?? 0) + UInt64(size)))
        }
        let content = [UInt8](0..<13)
        var start = 0
        for end in [2, 5, 6, 10, 13] {
            let piece = Array(content[start..<end])
            forged.pieces.append(
                ForgedPack.Piece(message: [0] + piece, end: UInt64(end), digest: piece.sha256))
            start = end
        }
        return try place.open(try forged.parts.bytes, as: try forged.manifest, with: key)
    }

    @Test func everyRangeIsRead() async throws {
        let pack = try pieced()
        for start in 0...13 {
            for end in start...13 {
                let range = UInt64(start)..<UInt64(end)
                #expect(try await bytes(range, of: pack) == Array(UInt8(start)..<UInt8(end)))
            }
        }
        #expect(
            try await extracted(pack).map(\.bytes) == [
                [0, 1, 2, 3, 4], [], [5, 6, 7], [8, 9, 10, 11], [], [12],
            ])
    }

    @Test func rangesBeyondTheEndAreRefused() async throws {
        let pack = try pieced()
        for range: Range<UInt64> in [12..<14, 13..<14, 14..<15, 0..<(.max), (.max - 1)..<(.max)] {
            await expectError(.usage) {
                try await pack.read(range) { _ in Issue.record("bytes were handed out") }
            }
        }
    }

    @Test func rangesAtPieceBoundaries() async throws {
        var source = try Source.small()
        source.files["large"] = noise(1_200_000)
        source.files["scene"] = prose(500_000)
        let content = source.content
        let sealed = try await seal(source, key: key)
        let pack = try place.open(sealed.bytes, as: sealed.manifest.json, with: key)
        #expect(pack.catalog.contentLength == UInt64(content.count))
        var boundaries: Set<Int> = [0, content.count]
        for index in 0..<pack.catalog.entryCount {
            boundaries.insert(Int(try #require(pack.catalog.entry(index)).content.upperBound))
        }
        let cuts = try pieceEnds(of: sealed.parts)
        #expect(cuts.count > 10 && cuts.last == content.count)
        for boundary in boundaries.union(cuts) {
            for (before, behind) in [(1, 0), (0, 1), (1, 1), (40_000, 40_000)] {
                let range = max(0, boundary - before)..<min(content.count, boundary + behind)
                #expect(
                    try await bytes(UInt64(range.lowerBound)..<UInt64(range.upperBound), of: pack)
                        == Array(content[range]))
            }
        }
    }

    /// Piece ends, read from the catalog's bytes.
    private func pieceEnds(of parts: PackParts) throws -> [Int] {
        let catalog = try TestKey().opened(
            parts.catalog, context: Array("assetvault/v1/catalog".utf8) + parts.header, under: "catalog")
        let tables =
            catalog.first == 0
            ? Array(catalog.dropFirst())
            : try Zstd.decompress(
                catalog.span.extracting(5...), exactly: Int(catalog.integer(UInt32.self, at: 1)))
        let records = 56 + Int(tables.integer(UInt16.self, at: 40))
        return parts.pieces.indices.map { Int(tables.integer(UInt64.self, at: records + 40 * $0)) }
    }

    /// All other pieces may be damaged.
    @Test func fileNeedsOnlyItsOwnPieces() async throws {
        let names = ["one", "three", "two"]
        var source = Source()
        for (index, name) in names.enumerated() {
            source.files[name] = noise(300_000, seed: index)
        }
        let sealed = try await seal(source, key: key)
        let ends = try pieceEnds(of: sealed.parts)
        for name in names {
            let whole = try place.open(sealed.bytes, with: key)
            let entry = try #require(whole.catalog.entry(at: try EntryPath(name)))
            var parts = sealed.parts
            for number in parts.pieces.indices where !entry.content.contains(UInt64(ends[number] - 1)) {
                parts.pieces[number][60] ^= 1
            }
            let pack = try place.open(parts.bytes, as: sealed.manifest.json, with: key)
            #expect(try await bytes(entry.content, of: pack) == source.files[name])
            await #expect(throws: VaultError.self) { _ = try await bytes(0..<900_000, of: pack) }
        }
    }

    @Test(arguments: [
        [0, 5, 5], [5, 5, 0], [0, 5, 0], [0, 0, 5, 0, 0, 5, 0, 0], [0], [0, 0, 0], [], [1],
        [200_000, 0, 0, 200_000, 0],
    ]) func filesOfNoBytes(_ sizes: [Int]) async throws {
        var source = Source()
        for (index, size) in sizes.enumerated() {
            source.files["\(index)"] = noise(size, seed: index)
        }
        let sealed = try await seal(source, key: key)
        let pack = try place.open(sealed.bytes, as: sealed.manifest.json, with: key)
        let entries = try await extracted(pack)
        #expect(entries.map(\.bytes.count) == sizes)
        #expect(entries.allSatisfy { $0.isComplete && $0.kind == .file && $0.bytes == source.files[$0.path] })
        #expect(pack.catalog.contentLength == UInt64(sizes.reduce(0, +)))
    }

    @Test func entriesAreFoundByPath() async throws {
        var source = try Source.small()
        // Looked up below in the other normal form as well.
        source.files["\u{E9}"] = [1]
        let sealed = try await seal(source, key: key)
        let catalog = try place.open(sealed.bytes, with: key).catalog
        let paths = (Array(source.files.keys) + source.emptyFolders).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        #expect(catalog.entryCount == paths.count)
        for (index, path) in paths.enumerated() {
            let entry = try #require(catalog.entry(at: try EntryPath(path)))
            #expect(entry.path.utf8Bytes == Array(path.utf8))
            #expect(catalog.entry(index)?.path == entry.path)
            #expect(entry.size == UInt64(source.files[path]?.count ?? 0))
            #expect(
                entry.kind == (path == "run" ? .executable : source.files[path] == nil ? .emptyFolder : .file)
            )
        }
        for absent in [
            "levels", "later", "levels/", "levels/32", "a", "~", "e\u{301}", "titl", "title2", "levels/1/x",
        ] {
            guard let path = try? EntryPath(absent) else { continue }
            #expect(catalog.entry(at: path) == nil, "\(absent)")
        }
        for index in [-1, paths.count, .max, .min] { #expect(catalog.entry(index) == nil) }
    }

    @Test func extractedTreeSealsToTheSamePack() async throws {
        var source = try Source.small()
        source.files["deep/er/and/deeper/file"] = [1]
        source.emptyFolders.append("deep/er/empty")
        let sealed = try await seal(source, key: key)
        let pack = try place.open(sealed.bytes, as: sealed.manifest.json, with: key)
        let out = try place.folder.makeFolder("out")
        try await pack.extract(into: Folder(opening: out), .writable)
        // Sealing it again gives the same pack, so nothing is missing or added.
        #expect(try await seal(folder: out, key: key).bytes == sealed.bytes)
        #expect(try OpenFile(reading: out.appending("run")).status().permissions == 0o755)
        #expect(try OpenFile(reading: out.appending("title")).status().permissions == 0o644)
    }

    /// A link in the target folder is not followed.
    @Test func linksAreNotFollowedWhenExtracting() async throws {
        let sealed = try await seal(Source(files: ["levels/1": [1], "title": [2]]), key: key)
        let pack = try place.open(sealed.bytes, with: key)
        let outside = try place.folder.makeFolder("outside")
        for name in ["levels", "title"] {
            let out = try place.folder.makeFolder("out-\(name)")
            try Folder(opening: out).symlink(name, target: outside.appending("x"))
            do throws(VaultError) {
                try await pack.extract(into: Folder(opening: out), .writable)
                Issue.record("a link was followed")
            } catch {}
            #expect(try Folder(opening: outside).names().isEmpty)
        }
    }
}
