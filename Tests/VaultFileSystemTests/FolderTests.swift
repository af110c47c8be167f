import Glibc
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

struct FolderTests {
    let testFolder: TemporaryFolder
    init() throws { testFolder = try TemporaryFolder() }

    @Test func listsRawNamesSortedByBytes() throws {
        let names: [[UInt8]] = [
            [0xFF, 0xFE], Array("é".utf8), Array("e\u{301}".utf8), Array("b".utf8), Array(".a".utf8),
        ]
        let folder = try Folder(opening: testFolder.path)
        #expect(try folder.names() == [])
        for name in names { _ = try folder.createFile(name, permissions: 0o600) }
        let sorted = names.sorted { $0.lexicographicallyPrecedes($1) }
        #expect(try folder.names() == sorted)
        #expect(try folder.names() == sorted, "listing again starts at the beginning")
        var seen = 0
        #expect(
            failure(naming: "enough") {
                try folder.forEachName { (_) throws(VaultError) in
                    seen += 1
                    throw VaultError(.busy, "enough", at: "enough", remedy: "none")
                }
            } == .busy)
        #expect(seen == 1)
        for name in names { try folder.unlink(name) }
        #expect(try folder.names() == [])
    }

    @Test(arguments: ["", ".", "..", "a/b", "/", "a/", "nul\0", String(repeating: "é", count: 128)])
    func refusesInvalidNames(_ name: String) throws {
        let path = testFolder.path
        let folder = try Folder(opening: path)
        #expect(failure(naming: path) { _ = try folder.createFile(name, permissions: 0o600) } == .usage)
        #expect(failure(naming: path) { try folder.createFolder(name, permissions: 0o700) } == .usage)
        #expect(failure(naming: path) { _ = try folder.openFile(name) } == .usage)
        #expect(failure(naming: path) { _ = try folder.openFolder(name) } == .usage)
        #expect(failure(naming: path) { _ = try folder.status(of: name) } == .usage)
        #expect(failure(naming: path) { try folder.unlink(name) } == .usage)
        #expect(failure(naming: path) { try folder.removeTree(name) } == .usage)
        #expect(failure(naming: path) { try folder.symlink(name, target: "t") } == .usage)
        #expect(
            failure(naming: path) { try folder.rename("x", to: folder, as: name, replacing: true) } == .usage)
        #expect(try folder.names() == [])
    }

    @Test func acceptsNamesOfEveryLength() throws {
        let folder = try Folder(opening: testFolder.path)
        for name in ["a", String(repeating: "n", count: 255), "...", " ", "-rf", "\u{7}"] {
            try folder.createFile(name, permissions: 0o600).write([1].span, at: 0)
            #expect(try folder.openFile(name).status().size == 1)
            #expect(try folder.status(of: name[...])?.kind == .file)
        }
    }

    @Test func opensOnlyTheRequestedKind() throws {
        try testFolder.file("file")
        try testFolder.folder("folder")
        try testFolder.pipe("pipe")
        try testFolder.link("to-file", to: "file")
        try testFolder.link("to-folder", to: "folder")
        let folder = try Folder(opening: testFolder.path)
        #expect(try folder.openFile("file").readAll(limit: 99) == Array("content".utf8))
        for name in ["folder", "pipe", "to-file", "to-folder"] {
            #expect(failure(naming: testFolder[name]) { _ = try folder.openFile(name) } == .corrupt)
            #expect(failure(naming: testFolder[name]) { _ = try folder.updateFile(name) } == .corrupt)
        }
        _ = try folder.openFolder("folder")
        for name in ["file", "pipe", "to-file", "to-folder"] {
            #expect(failure(naming: testFolder[name]) { _ = try folder.openFolder(name) } == .corrupt)
        }
        #expect(failure(naming: testFolder["absent"]) { _ = try folder.openFile("absent") } == .missing)
        #expect(failure(naming: testFolder["absent"]) { _ = try folder.openFolder("absent") } == .missing)
        #expect(failure(naming: testFolder["absent"]) { try folder.unlink("absent") } == .missing)
        #expect(try folder.status(of: "absent") == nil)
        #expect(try folder.status(of: "to-file")?.kind == .link)
        #expect(try folder.status(of: "pipe")?.kind == .pipe)
        // By path, links are followed.
        _ = try Folder(opening: testFolder["to-folder"])
        #expect(
            failure(naming: testFolder["to-file"]) { _ = try Folder(opening: testFolder["to-file"]) }
                == .corrupt)
        #expect(
            failure(naming: testFolder["absent"]) { _ = try Folder(opening: testFolder["absent"]) }
                == .missing)
    }

    @Test func staysTheSameFolderWhenItIsMoved() throws {
        try testFolder.folder("old")
        let folder = try Folder(opening: testFolder["old"])
        try FileSystem.move(testFolder["old"], to: testFolder["new"])
        try testFolder.folder("old")
        _ = try folder.createFile("f", permissions: 0o600)
        try folder.synchronize()
        try folder.synchronizeFileSystem()
        #expect(try FileSystem.exists(testFolder["new/f"]))
    }

    @Test func foldersAreNeitherUnlinkedNorReplaced() throws {
        let folder = try Folder(opening: testFolder.path)
        try folder.createFolder("sub", permissions: 0o700).createFile("f", permissions: 0o600).truncate(to: 1)
        #expect(failure(naming: testFolder["sub"]) { try folder.unlink("sub") } == .io)
        #expect(
            failure(naming: testFolder["sub"]) { try folder.createFolder("sub", permissions: 0o700) }
                == .unwritable)
    }

    @Test func replacesALinkAtomically() throws {
        let folder = try Folder(opening: testFolder.path)
        #expect(try folder.readLink("current") == nil)
        try folder.replaceLink("current", target: "versions/1")
        #expect(
            failure(naming: testFolder["current"]) { try folder.symlink("current", target: "x") }
                == .unwritable)
        try folder.replaceLink("current", target: "versions/2")
        #expect(try folder.readLink("current") == "versions/2")
        let long = FilePath(String(repeating: "t/", count: 2000) + "t")
        try folder.symlink("long", target: long)
        #expect(try folder.readLink("long") == long)
        try folder.createFolder("folder", permissions: 0o700)
        #expect(
            failure(naming: testFolder["folder"]) { try folder.replaceLink("folder", target: "x") }
                == .unwritable)
        #expect(failure(naming: testFolder["folder"]) { _ = try folder.readLink("folder") } == .corrupt)
        #expect(try testFolder.names() == ["current", "folder", "long"])
    }
}
