import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

/// Unpacks bytes into a fresh folder.
struct Unpacked {
    let folder: TemporaryFolder
    let entries: [String]

    init(_ archive: [UInt8], isStream: Bool = false) throws {
        let workspace = try TemporaryFolder()
        let file = try workspace.write("archive", archive)
        folder = try TemporaryFolder()
        let source =
            isStream
            ? try ArchiveUnpacking.unpack(stream: OpenFile(reading: file), into: folder.path)
            : try ArchiveUnpacking.unpack(file, into: folder.path)
        entries = source.entries.map { "\($0.path) \($0.kind) \($0.size)" }
    }
}

@Suite struct UnpackingTests {
    private let tree = [
        "empty/inner emptyFolder 0", "long.txt file(executable: false) 3000",
        "run.sh file(executable: true) 10",
        "zero file(executable: false) 0", "é/ñ.txt file(executable: false) 5",
    ]

    @Test(arguments: RealArchives.sameTree.map(\.name))
    func everyFormatIsUnpacked(name: String) throws {
        let archive = try #require(RealArchives.sameTree.first { $0.name == name })
        let unpacked = try Unpacked(archive.bytes)
        #expect(unpacked.entries == tree)
        #expect(try unpacked.folder.bytes("é/ñ.txt") == Array("hola\n".utf8))
        #expect(try unpacked.folder.bytes("long.txt") == Array(String(repeating: "level ", count: 500).utf8))
        guard name.contains("tar") else { return }
        #expect(try Unpacked(archive.bytes, isStream: true).entries == tree)
    }

    @Test(arguments: RealArchives.sameTree.map(\.name))
    func truncatedOrExtendedArchivesAreRefused(name: String) throws {
        let bytes = try #require(RealArchives.sameTree.first { $0.name == name }).bytes
        for count in [1, 2, 4, 8, 9, 16, bytes.count / 2, bytes.count - 40] {
            let error = #expect(throws: VaultError.self) { try Unpacked(Array(bytes.dropLast(count))) }
            #expect(error?.category == .corrupt)
        }
        let error = #expect(throws: VaultError.self) { try Unpacked(bytes + [0x78]) }
        #expect(error?.category == .corrupt)
    }

    @Test(arguments: RealArchives.encrypted.map(\.name))
    func encrypted(name: String) throws {
        let bytes = try #require(RealArchives.encrypted.first { $0.name == name }).bytes
        let error = #expect(throws: VaultError.self) { try Unpacked(bytes) }
        #expect(error?.category == .corrupt)
        #expect(error?.problem.contains("encrypted") == true)
        #expect(name == "eh.7z" || error?.place.contains("entry 'x'") == true)
    }

    @Test(arguments: ["a.zip", "a.7z"])
    func zipAndSevenZipNeedAFile(name: String) throws {
        let bytes = try #require(RealArchives.sameTree.first { $0.name == name }).bytes
        let error = #expect(throws: VaultError.self) { try Unpacked(bytes, isStream: true) }
        #expect(error?.category == .usage)
    }

    @Test(arguments: [[], Array("no archive".utf8), [UInt8](repeating: 0x41, count: 2_000)])
    func otherFilesAreRefused(bytes: [UInt8]) {
        let error = #expect(throws: VaultError.self) { try Unpacked(bytes) }
        #expect(error?.category == .corrupt)
        #expect(error?.problem.contains("unsupported archive format") == true)
    }

    @Test func namesAreUnchanged() throws {
        // Decomposed in the pax header, in the plain header, and in a zip with the UTF-8 flag.
        let name = "e\u{301}/" + String(repeating: "n\u{303}", count: 50)
        var tar = HandmadeTar()
        tar.add(name, [1])
        tar.add("o\u{308}", [2])
        var zip = HandmadeZip()
        zip.add(name, [1])
        zip.add("o\u{308}", [2])
        for archive in [tar.finished, zip.finished] {
            let source = try Unpacked(archive)
            let expected = ["\(name) file(executable: false) 1", "o\u{308} file(executable: false) 1"]
            #expect(source.entries.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        }
    }

    @Test func leadingDotSegmentIsDropped() throws {
        var tar = HandmadeTar()
        tar.add("./", type: "5")
        tar.add(".", type: "5")
        tar.add("./a/", type: "5")
        tar.add("./a/b", [1])
        tar.add("./c/", type: "5")
        #expect(
            try Unpacked(tar.finished).entries == ["a/b file(executable: false) 1", "c emptyFolder 0"])
    }

    @Test func foldersMayRepeatOrFollowTheirFiles() throws {
        var tar = HandmadeTar()
        tar.add("a/b/c", [1])
        tar.add("a/b/", type: "5")
        tar.add("a/", type: "5")
        tar.add("a", type: "5")
        #expect(try Unpacked(tar.finished).entries == ["a/b/c file(executable: false) 1"])
    }

    @Test func unpackedFilesArePrivateToTheOwner() throws {
        var tar = HandmadeTar()
        tar.add("a/plain", [1], mode: 0o666)
        tar.add("a/run", [1], mode: 0o7777)
        tar.add("a/group", [1], mode: 0o070)
        let unpacked = try Unpacked(tar.finished)
        let folder = try Folder(opening: unpacked.folder.path.appending("a"))
        #expect(try folder.status().permissions == 0o700)
        #expect(try folder.status(of: "plain")?.permissions == 0o600)
        #expect(try folder.status(of: "run")?.permissions == 0o700)
        #expect(try folder.status(of: "group")?.permissions == 0o600)
    }

    @Test func sparseFilesAreUnpacked() throws {
        // GNU 1.0: the map is before the data. 1 MiB: 3 bytes at 512 Ki, a hole to the end.
        let map = Array("1\n524288\n3\n".utf8)
        var tar = HandmadeTar()
        tar.addAttributes([
            ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "sparse"),
            ("GNU.sparse.realsize", "1048576"),
        ])
        tar.add("GNUSparseFile.0/sparse", map + [UInt8](repeating: 0, count: 512 - map.count) + [7, 8, 9])
        let unpacked = try Unpacked(tar.finished)
        #expect(unpacked.entries == ["sparse file(executable: false) 1048576"])
        let bytes = try unpacked.folder.bytes("sparse")
        #expect(bytes.count == 1 << 20)
        #expect(bytes[524_288..<524_291].elementsEqual([7, 8, 9]))
        #expect(bytes.reduce(0) { $0 + Int($1) } == 24)
    }
}
