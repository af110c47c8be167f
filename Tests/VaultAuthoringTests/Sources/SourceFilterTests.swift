import Foundation
import SealedPack
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase

@Suite struct SourceFilterTests {
    private let folder: TemporaryFolder

    init() throws {
        let folder = try TemporaryFolder()
        for name in [
            "a.png", "a.psd", "art/b.png", "art/b.psd", "art/raw/c.psd", "drafts/d.png", "drafts/x/e.png",
        ] {
            try folder.write(name, [1])
        }
        try folder.makeFolder("art/empty")
        self.folder = folder
    }

    private func taken(include: [String] = [], exclude: [String] = []) throws -> [String] {
        let filter = try SourceFilter(include: include, exclude: exclude)
        return try SourceFolder(scanning: folder.path, filter: filter).entries.map(\.path.string)
    }

    @Test func allFilesByDefault() throws {
        #expect(try taken().count == 8)
        #expect(try SourceFolder(scanning: folder.path, filter: .all).entries.count == 8)
    }

    @Test(arguments: [
        (["*.png"], ["a.png", "art/b.png", "drafts/d.png", "drafts/x/e.png"]),
        (["art"], ["art/b.png", "art/b.psd", "art/empty", "art/raw/c.psd"]),
        (["art/*.psd"], ["art/b.psd"]), (["art/**.psd"], ["art/b.psd", "art/raw/c.psd"]),
        (["drafts/**/e.png"], ["drafts/x/e.png"]), (["art/**/b.png"], ["art/b.png"]),
        (["a**/b.png"], ["art/b.png"]),
        (["art/**/.psd"], []), (["raw/"], ["art/raw/c.psd"]), (["empty"], ["art/empty"]),
        (["*.jpg"], []), (["/a.png", "/b.png"], ["a.png"]), (["/drafts/x"], ["drafts/x/e.png"]),
        (["/x"], []),
    ])
    func includePatternsSelectFiles(patterns: [String], expected: [String]) throws {
        #expect(try taken(include: patterns) == expected)
    }

    @Test func excludePatternsSkipFiles() throws {
        #expect(
            try taken(exclude: ["*.psd", "drafts"]) == ["a.png", "art/b.png", "art/empty"])
        #expect(try taken(include: ["art"], exclude: ["raw", "empty"]) == ["art/b.png", "art/b.psd"])
    }

    @Test func excludedEntriesMayBeOfAnyKind() throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path.appending("drafts/link").string, withDestinationPath: "/")
        try folder.write("drafts/bad\\name", [])
        #expect(throws: VaultError.self) { try taken() }
        #expect(throws: VaultError.self) { try taken(include: ["drafts"]) }
        #expect(try taken(exclude: ["drafts"]).count == 6)
    }

    /// Links, whatever they lead to, and names that can't be packed.
    @Test func whatIncludeLeavesOutMayBeOfAnyKind() throws {
        let all = ["a.png", "art/b.png", "drafts/d.png", "drafts/x/e.png"]
        for (name, target) in [("link", "/"), ("nowhere", "/no/such/file"), ("loop", "."), ("file", "d.png")]
        {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path.appending("drafts/\(name)").string, withDestinationPath: target)
        }
        try folder.write("drafts/bad\\name", [])
        #expect(try taken(include: ["*.png"]) == all)
        // What is included must be packable.
        for pattern in ["link", "nowhere", "drafts/loop", "/drafts", "bad*"] {
            #expect(throws: VaultError.self) { try taken(include: ["*.png", pattern]) }
        }
        // A followed link to a file is that file, if it is included.
        for name in ["link", "loop", "bad\\name"] {
            try FileManager.default.removeItem(atPath: folder.path.appending("drafts/\(name)").string)
        }
        let filter = try SourceFilter(include: ["*.png", "file"], exclude: [])
        let followed = try SourceFolder(scanning: folder.path, filter: filter, followLinks: true)
        #expect(
            followed.entries.map(\.path.string) == [
                "a.png", "art/b.png", "drafts/d.png", "drafts/file", "drafts/x/e.png",
            ])
    }

    @Test func folderOfExcludedFilesIsNotAnEmptyFolder() throws {
        #expect(try taken(exclude: ["*.png"]).contains("drafts") == false)
    }

    @Test func filterAppliesToArchives() throws {
        var tar = HandmadeTar()
        tar.add("a.png", [1])
        tar.add("drafts/a.psd", [1])
        let file = try folder.write("drafts.tar", tar.finished)
        let target = try TemporaryFolder()
        let filter = try SourceFilter(include: [], exclude: ["*.psd"])
        let entries = try ArchiveUnpacking.unpack(file, into: target.path, filter: filter).entries
        #expect(entries.map(\.path.string) == ["a.png"])
    }

    @Test(arguments: ["", "/", "//a"])
    func unsupportedPatternsAreRefused(pattern: String) {
        let error = #expect(throws: VaultError.self) { try SourceFilter(include: [pattern], exclude: []) }
        #expect(error?.category == .usage)
    }
}
