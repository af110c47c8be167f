import SealedPack
import Testing
import VaultBase

/// Hostile catalogs of an attacker with the content key: encrypted and hashed correctly.
@Suite struct ForgedCatalogTests {
    struct Forgery: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let forge: @Sendable (inout ForgedPack) -> Void

        init(_ description: String, _ forge: @escaping @Sendable (inout ForgedPack) -> Void) {
            testDescription = description
            self.forge = forge
        }

        /// The second of three files has this path.
        static func path(_ name: String, _ path: [UInt8]) -> Forgery {
            Forgery("path \(name)") { $0.entries[1].path = path }
        }

        /// The paths of the three files.
        static func paths(_ paths: String...) -> Forgery {
            Forgery("paths \(paths)") { pack in
                for (index, path) in paths.enumerated() { pack.entries[index].path = Array(path.utf8) }
            }
        }
    }

    private let key: ContentKey
    private let place: PackPlace

    init() async throws {
        key = try await TestKey().contentKey()
        place = try PackPlace()
    }

    /// Three files in three pieces, and an empty folder.
    private func honest() -> ForgedPack {
        var pack = ForgedPack(
            key: TestKey(),
            files: [("a", [1, 2, 3]), ("b", [4, 5]), ("c", [UInt8](repeating: 6, count: 100))])
        pack.entries.append(ForgedPack.Entry(path: [0x7A], kind: 0, end: 105))
        return pack
    }

    private func forged(_ forgery: Forgery) -> ForgedPack {
        var pack = honest()
        forgery.forge(&pack)
        return pack
    }

    private func expectRefusal(of pack: ForgedPack) async throws {
        await place.expectRefusal(
            try pack.parts.bytes, asEachOf: [nil, try pack.manifest], with: key, content: pack.content)
    }

    /// Shows that the refusals below have the intended reason.
    @Test func honestForgeryOpens() async throws {
        let pack = honest()
        for manifest in [nil, try pack.manifest] {
            let entries = try await place.read(try pack.parts.bytes, as: manifest, with: key)
            #expect(entries.map(\.path) == ["a", "b", "c", "z"])
            #expect(entries.map(\.kind) == [.file, .file, .file, .emptyFolder])
            #expect(entries.flatMap(\.bytes) == pack.content)
        }
    }

    @Test(arguments: [
        Forgery.paths("b", "a", "c"), .paths("a", "c", "b"), .paths("a", "a", "c"), .paths("a", "b", "z"),
        .paths("a", "a/b", "c"), .paths("a", "a/b/c", "c"), .paths("a", "a-b", "a/b"),
        .paths("y", "z", "z/x"),
        Forgery("file below an empty folder") { pack in
            pack.entries[0].path = [0x62, 0x2F, 0x61]
            pack.entries.insert(ForgedPack.Entry(path: [0x62], kind: 0, end: 0), at: 0)
            pack.entries[2].path = [0x62, 0x62]
        },
        .path("empty", []), .path("..", Array("..".utf8)), .path("up", Array("b/../../x".utf8)),
        .path("up at the end", Array("b/..".utf8)), .path("dot", Array("b/./x".utf8)),
        .path("only dot", [0x2E]),
        .path("absolute", Array("/etc/passwd".utf8)), .path("empty segment", Array("b//x".utf8)),
        .path("slash at the end", Array("b/".utf8)), .path("backslash", Array("b\\x".utf8)),
        .path("NUL", Array("b\0x".utf8)), .path("newline", Array("b\nx".utf8)),
        .path("DEL", Array("b\u{7F}".utf8)),
        .path("C1", Array("b\u{9B}".utf8)), .path("not UTF-8", [0x62, 0xFF]),
        .path("surrogate", [0x62, 0xED, 0xA0, 0x80]), .path("overlong", [0x62, 0xC0, 0xAF]),
        .path("cut UTF-8", [0x62, 0xC3]), .path("long segment", [UInt8](repeating: 0x62, count: 256)),
        .path("65 levels", Array([String](repeating: "b", count: 65).joined(separator: "/").utf8)),
        .path("4,097 bytes", Array(longPath(last: 255).utf8)),
    ]) func paths(_ forgery: Forgery) async throws {
        let pack = forged(forgery)
        try await expectRefusal(of: pack)
        // Refused by the catalog, before any of its paths is used.
        try expectImpossibleCatalog(pack)
    }

    /// A catalog is refused when it is read, whatever the pieces contain.
    private func expectImpossibleCatalog(
        _ pack: ForgedPack, saying problem: String = "the catalog ",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let bytes = try pack.parts.bytes
        let error = #expect(throws: VaultError.self, sourceLocation: sourceLocation) {
            _ = try place.open(bytes, with: key)
        }
        #expect(
            error?.problem.contains(problem) == true, "\(error?.description ?? "")",
            sourceLocation: sourceLocation)
    }

    /// The catalog's lengths determine the memory for a piece.
    @Test func pieceLengthIsLimited() throws {
        var pack = honest()
        pack.pieces[2].end = 5 + 16 << 20
        for index in 2...3 { pack.entries[index].end = pack.pieces[2].end }
        let bytes = try pack.parts.bytes
        #expect(throws: Never.self) { _ = try place.open(bytes, with: key) }
        pack.pieces[2].end += 1
        for index in 2...3 { pack.entries[index].end += 1 }
        try expectImpossibleCatalog(pack, saying: "piece 2 has an impossible length")
    }

    /// A catalog needs at most 64 MiB of memory, however much was downloaded.
    @Test func compressedCatalogLengthIsLimited() throws {
        for (more, problem) in [(0, "zstd"), (1, "it states an impossible length")] {
            var pack = honest()
            pack.packing = { _ in
                var message: [UInt8] = [1]
                message.appendInteger(UInt32(64 << 20 + more))
                return message + [UInt8](repeating: 0, count: 4 << 20 + 1)
            }
            try expectImpossibleCatalog(pack, saying: problem)
        }
    }

    @Test(arguments: [
        Forgery("an empty piece") { $0.pieces[1].end = 3 },
        Forgery("a falling piece") { $0.pieces[1].end = 2 },
        Forgery("a piece from 0") { $0.pieces[0].end = 0 },
        Forgery("a piece of 16 MiB and a byte") { pack in
            pack.pieces[2].end = 5 + 16 << 20 + 1
            pack.entries[2].end = 5 + 16 << 20 + 1
            pack.entries[3].end = 5 + 16 << 20 + 1
        },
        Forgery("piece ends overflow") { pack in for index in 0..<3 { pack.pieces[index].end = .max } },
        Forgery("the last piece ends nowhere") { $0.pieces[2].end = .max },
        Forgery("the last piece is too long") { $0.pieces[2].end += 1 },
        Forgery("the last piece is too short") { $0.pieces[2].end -= 1 },
        Forgery("a piece is shorter than its bytes") { $0.pieces[0].end -= 1 },
        Forgery("a piece is longer than its bytes") { $0.pieces[0].end += 1 },
        Forgery("all is longer than the pieces") { pack in
            pack.pieces[2].end += 1
            for index in 2...3 { pack.entries[index].end += 1 }
        },
        Forgery("a piece has another digest") { $0.pieces[1].digest[31] ^= 1 },
        Forgery("entries fall") { $0.entries[1].end = 2 },
        Forgery("entries pass the content") { $0.entries[1].end = 106 },
        Forgery("entries overflow") { $0.entries[3].end = .max },
        Forgery("all entries overflow") { pack in for index in 0...3 { pack.entries[index].end = .max } },
        Forgery("entries end too early") { pack in for index in 2...3 { pack.entries[index].end -= 1 } },
        Forgery("a folder has bytes") { pack in
            pack.entries[2].end -= 1
            pack.entries[3].end = 105
        },
        Forgery("kind 3") { $0.entries[1].kind = 3 }, Forgery("kind 255") { $0.entries[1].kind = 255 },
        Forgery("reserved byte of an entry") { $0.entries[1].zero = [0, 0, 1] },
        Forgery("a path ends at 0") { $0.entries[0].pathEnd = 0 },
        Forgery("a path ends before the one before") { $0.entries[2].pathEnd = 1 },
        Forgery("a path ends beyond the table") { $0.entries[3].pathEnd = 5 },
        Forgery("a path ends at the end of the world") { $0.entries[1].pathEnd = .max },
        Forgery("a path left over") { pack in
            pack.behind = [0x7B]
            pack.pathLength = 5
        },
    ]) func records(_ forgery: Forgery) async throws {
        try await expectRefusal(of: forged(forgery))
    }

    @Test(arguments: [
        Forgery("codec 1") { $0.codec = 1 }, Forgery("codec 2") { $0.codec = 2 },
        Forgery("another index") { $0.indexDigest = [UInt8](repeating: 9, count: 32) },
        Forgery("version 2^53") { $0.version = 1 << 53 }, Forgery("version 2^64 - 1") { $0.version = .max },
        Forgery("reserved bytes") { $0.zero = 1 },
        Forgery("one piece more") { $0.pieceCount = 4 }, Forgery("one piece less") { $0.pieceCount = 2 },
        Forgery("no piece") { $0.pieceCount = 0 }, Forgery("2^32 - 1 pieces") { $0.pieceCount = .max },
        Forgery("2^21 + 1 pieces") { $0.pieceCount = 1 << 21 + 1 },
        Forgery("one entry more") { $0.entryCount = 5 }, Forgery("one entry less") { $0.entryCount = 3 },
        Forgery("no entry") { $0.entryCount = 0 }, Forgery("2^32 - 1 entries") { $0.entryCount = .max },
        Forgery("2^22 + 1 entries") { $0.entryCount = 1 << 22 + 1 },
        Forgery("paths one longer") { $0.pathLength = 5 }, Forgery("paths one shorter") { $0.pathLength = 3 },
        Forgery("paths of 4 GiB") { $0.pathLength = .max },
        Forgery("all counts") { pack in
            pack.pieceCount = .max
            pack.entryCount = .max
            pack.pathLength = .max
            pack.idLength = .max
        },
        Forgery("ID one longer") { $0.idLength = 11 }, Forgery("ID one shorter") { $0.idLength = 9 },
        Forgery("ID of 64 KiB") { $0.idLength = .max }, Forgery("no ID") { $0.id = [] },
        Forgery("ID goes up") { $0.id = Array("levels/..".utf8) },
        Forgery("ID in capitals") { $0.id = Array("Levels".utf8) },
        Forgery("reserved ID") { $0.id = Array("levels/current".utf8) },
        Forgery("ID is not UTF-8") { $0.id = [0xFF] },
        Forgery("something behind") { $0.behind = [0] }, Forgery("a byte is missing") { $0.missing = 1 },
        Forgery("only the codec") { $0.missing = 56 + 10 + 120 + 64 + 4 },
        Forgery("55 bytes") { $0.missing = 10 + 120 + 64 + 4 + 1 },
        Forgery("nothing at all") { $0.missing = 1 + 56 + 10 + 120 + 64 + 4 },
        Forgery("files without pieces") { $0.pieces = [] },
        Forgery("pieces without files") { $0.entries = [] },
    ]) func head(_ forgery: Forgery) async throws {
        let pack = forged(forgery)
        let parts = try pack.parts
        // A manifest that matches as far as possible.
        let honest = parts.manifest(id: "levels/one", version: 1, openedSize: 105, entries: 4)
        await place.expectRefusal(
            parts.bytes, asEachOf: [nil, honest], with: key, content: pack.content)
    }

    /// A pack of a newer release is not reported as damaged.
    @Test(arguments: [Forgery("codec 2") { $0.codec = 2 }, Forgery("kind 3") { $0.entries[1].kind = 3 }])
    func newerFormatIsNotDamage(_ forgery: Forgery) async throws {
        let error = await #expect(throws: VaultError.self) {
            _ = try await place.read(try forged(forgery).parts.bytes, with: key)
        }
        #expect(error?.needsNewerRelease == true)
        #expect(error?.description.contains("damaged") == false, "\(error?.description ?? "")")
    }

    /// Codec 1: a length and a frame.
    private static func compressed(
        _ catalog: [UInt8], stating count: Int? = nil, behind: [UInt8] = []
    ) throws -> [UInt8] {
        var message: [UInt8] = [1]
        message.appendInteger(UInt32(count ?? catalog.count))
        #expect(try Zstd.compress(joining: [catalog], level: 3, appendingTo: &message))
        return message + behind
    }

    @Test func compressedCatalogOpens() async throws {
        var pack = honest()
        pack.packing = { try Self.compressed($0) }
        let entries = try await place.read(try pack.parts.bytes, with: key)
        #expect(entries.map(\.path) == ["a", "b", "c", "z"])
    }

    @Test(arguments: [
        Forgery("states one byte more") { $0.packing = { try Self.compressed($0, stating: $0.count + 1) } },
        Forgery("states one byte less") { $0.packing = { try Self.compressed($0, stating: $0.count - 1) } },
        Forgery("states nothing") { $0.packing = { try Self.compressed($0, stating: 0) } },
        Forgery("states 4 GiB") { $0.packing = { try Self.compressed($0, stating: Int(UInt32.max)) } },
        Forgery("something behind") { $0.packing = { try Self.compressed($0, behind: [0]) } },
        Forgery("two frames") {
            $0.packing = { try Self.compressed($0, behind: Array(Self.compressed($0).dropFirst(5))) }
        },
        Forgery("cut short") { $0.packing = { try Self.compressed($0).dropLast() } },
        Forgery("no frame") { $0.packing = { [1, 0, 0, 0, UInt8(truncatingIfNeeded: $0.count)] + $0 } },
        Forgery("no length") { $0.packing = { _ in [1, 0, 0] } },
        // Megabytes of zeros in a few hundred bytes: refused for the stated length.
        Forgery("expands too far") {
            $0.packing = { catalog in
                try Self.compressed(catalog + [UInt8](repeating: 0, count: 16 << 20))
            }
        },
    ]) func compression(_ forgery: Forgery) async throws {
        try await expectRefusal(of: forged(forgery))
    }

    /// A catalog that expands too far is refused before memory is reserved.
    @Test func catalogExpansionIsLimited() async throws {
        var pack = ForgedPack(key: TestKey(), files: [("a", [1, 2, 3])])
        for number in 1000..<2000 {
            let path = String(repeating: "d", count: 250) + "/\(number)"
            pack.entries.append(ForgedPack.Entry(path: Array(path.utf8), end: 3))
        }
        let stored = try await place.read(try pack.parts.bytes, as: try pack.manifest, with: key)
        #expect(stored.count == 1001)
        pack.packing = { catalog in
            let message = try Self.compressed(catalog)
            #expect((17...256).contains(catalog.count / (message.count - 5)))
            return message
        }
        try await expectRefusal(of: pack)
    }

    /// Authentic catalogs of another pack, version or size do not match the manifest.
    @Test(arguments: [
        ("levels/two", 1, 105, 4), ("levels/one", 2, 105, 4), ("levels/one", 0, 105, 4),
        ("levels/one", 1, 104, 4),
        ("levels/one", 1, 105, 3), ("levels/one", 1, 105, 5),
    ])
    func mismatchWithManifestIsRefused(id: String, version: UInt64, openedSize: UInt64, entries: Int)
        async throws
    {
        let parts = try honest().parts
        let manifest = parts.manifest(id: id, version: version, openedSize: openedSize, entries: entries)
        await place.expectRefusal(parts.bytes, as: manifest, with: key, content: honest().content)
        _ = try await place.read(
            parts.bytes, as: parts.manifest(id: "levels/one", version: 1, openedSize: 105, entries: 4),
            with: key)
    }

    /// Another authentic catalog of the same length as the signed one.
    @Test func catalogOfAnotherManifestIsRefused() async throws {
        let (pack, parts) = (honest(), try honest().parts)
        var other = honest()
        other.entries[2].path = Array("d".utf8)
        var forged = parts
        forged.catalog = try other.parts.catalog
        try #require(forged.catalog.count == parts.catalog.count && forged.catalog != parts.catalog)
        forged.footer = Array(parts.bytes.suffix(128))
        // It opens without the manifest, so it is refused for its digest.
        _ = try await place.read(forged.refooted, with: key)
        await place.expectRefusal(
            forged.bytes, asEachOf: [nil, try pack.manifest], with: key, content: pack.content)
    }

    /// Paths of the largest depth and length are allowed.
    @Test func largestPathsOpen() async throws {
        let tall = [String](repeating: "d", count: 64).joined(separator: "/")
        let wide = longPath(last: 254)
        let pack = ForgedPack(key: TestKey(), files: [(tall, [1]), (wide, [2]), ("ü\u{308}", [3])])
        let entries = try await place.read(try pack.parts.bytes, with: key)
        #expect(entries.map(\.path.utf8.count) == [127, 4_096, 4])
    }
}

/// 15 segments of 255 bytes, one of `last` and one of 1 byte.
private func longPath(last: Int) -> String {
    ([Int](repeating: 255, count: 15) + [last, 1]).map { String(repeating: "e", count: $0) }.joined(
        separator: "/")
}
