import Foundation
import SealedPack
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

@Suite struct SourceFolderTests {
    @Test func findsFilesAndEmptyFolders() throws {
        let folder = try TemporaryFolder()
        try folder.write("b/run.sh", [1, 2, 3], permissions: 0o755)
        try folder.write("b/group only", [1], permissions: 0o674)
        try folder.write("zero", [])
        try folder.write("é/ñ", [1, 2])
        try folder.makeFolder("empty/inner")

        let source = try SourceFolder(scanning: folder.path)
        #expect(
            source.entries.map { "\($0.path) \($0.kind) \($0.size)" } == [
                "b/group only file(executable: false) 1", "b/run.sh file(executable: true) 3",
                "empty/inner emptyFolder 0", "zero file(executable: false) 0",
                "é/ñ file(executable: false) 2",
            ])
    }

    @Test func sortsByTheBytesOfTheWholePath() throws {
        let folder = try TemporaryFolder()
        let names = ["a-", "a/b", "a.txt", "a0", "B", "z\u{301}", "\u{FB00}", "\u{1F600}", "a/b-/c", "a/b0"]
        for name in names { try folder.write(name, []) }
        let found = try SourceFolder(scanning: folder.path).entries.map { Array($0.path.string.utf8) }
        #expect(found == names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    }

    @Test func emptyFolderHasNoEntries() throws {
        let folder = try TemporaryFolder()
        #expect(try SourceFolder(scanning: folder.path).entries.isEmpty)
    }

    @Test func opensEachFile() throws {
        let folder = try TemporaryFolder()
        for name in ["top", "a/b/c/deep", "a/other"] { try folder.write(name, Array(name.utf8)) }
        let source = try SourceFolder(scanning: folder.path)
        var files = try SourceReader(of: source)
        for entry in source.entries {
            let bytes = try files.open(entry).readAll(limit: 100)
            #expect(bytes == entry.path.utf8Bytes)
        }
    }

    @Test func fileWithChangedSizeIsNotOpened() throws {
        let folder = try TemporaryFolder()
        try folder.write("file", [1, 2, 3])
        let source = try SourceFolder(scanning: folder.path)
        try folder.write("file", [1, 2, 3, 4])
        var files = try SourceReader(of: source)
        let error = #expect(throws: VaultError.self) { _ = try files.open(source.entries[0]) }
        #expect(error?.category == .io)
        #expect(error?.problem.contains("changed its size") == true)
    }

    /// Concurrent changes of the tree can't lead outside, and a folder that can't be entered does not affect others.
    @Test func folderReplacedByALinkIsNotEntered() throws {
        let folder = try TemporaryFolder()
        for name in ["a/1", "a/3", "b/2", "b/4", "elsewhere/3"] { try folder.write(name, Array(name.utf8)) }
        let source = try SourceFolder(scanning: folder.path)
        let entries = Dictionary(uniqueKeysWithValues: source.entries.map { ($0.path.string, $0) })
        var files = try SourceReader(of: source)
        func read(_ name: String) throws -> [UInt8] {
            try files.open(#require(entries[name])).readAll(limit: 100)
        }
        #expect(try read("a/1") == Array("a/1".utf8))
        try FileManager.default.moveItem(
            atPath: folder.path.appending("a").string, toPath: folder.path.appending("away").string)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path.appending("a").string, withDestinationPath: "elsewhere")
        #expect(try read("b/2") == Array("b/2".utf8))
        #expect(throws: VaultError.self) { try read("a/3") }
        #expect(try read("b/4") == Array("b/4".utf8))
    }

    @Test func fileReplacedByALinkIsNotOpened() throws {
        let folder = try TemporaryFolder()
        try folder.write("a/file", [1, 2, 3])
        try folder.write("elsewhere/file", [4, 5, 6])
        let source = try SourceFolder(scanning: folder.path)
        try FileManager.default.removeItem(atPath: folder.path.appending("a").string)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path.appending("a").string, withDestinationPath: "elsewhere")
        var files = try SourceReader(of: source)
        let error = #expect(throws: VaultError.self) { _ = try files.open(source.entries[0]) }
        #expect(error?.category == .corrupt)
    }

    @Test func missingFolderIsReported() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: VaultError.self) {
            _ = try SourceFolder(scanning: folder.path.appending("none"))
        }
        #expect(error?.category == .missing)
    }

    @Test func manyFilesAreSorted() throws {
        let folder = try TemporaryFolder()
        for number in 0..<2_000 { try folder.write("group \(number % 7)/\(number)", []) }
        let source = try SourceFolder(scanning: folder.path)
        #expect(source.entries.count == 2_000)
        #expect(zip(source.entries, source.entries.dropFirst()).allSatisfy { $0.path < $1.path })
    }
}
