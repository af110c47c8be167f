import Glibc
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

struct RenameTests {
    let testFolder: TemporaryFolder
    init() throws { testFolder = try TemporaryFolder() }

    @Test func refusesExistingTargets() throws {
        try testFolder.file("new", "new")
        try testFolder.file("old", "old")
        try testFolder.folder("empty")
        try testFolder.link("dangling", to: "elsewhere")
        for name in ["old", "empty", "dangling"] {
            #expect(
                failure(naming: testFolder[name]) {
                    try FileSystem.move(testFolder["new"], to: testFolder[name])
                } == .unwritable)
        }
        #expect(try testFolder.content("old") == "old")
        try FileSystem.move(testFolder["new"], to: testFolder["old"], replacing: true)
        #expect(try testFolder.content("old") == "new")
        #expect(try testFolder.names() == ["dangling", "empty", "old"])
    }

    @Test func replacesAFolderOnlyWhenEmpty() throws {
        for name in ["one", "two", "full"] { try testFolder.folder(name) }
        try testFolder.file("full/f")
        #expect(
            failure(naming: testFolder["two"]) {
                try FileSystem.move(testFolder["one"], to: testFolder["two"])
            }
                == .unwritable)
        #expect(
            failure(naming: testFolder["full"]) {
                try FileSystem.move(testFolder["one"], to: testFolder["full"], replacing: true)
            } == .unwritable)
        try FileSystem.move(testFolder["full"], to: testFolder["two"], replacing: true)
        #expect(try testFolder.content("two/f") == "content")
    }

    @Test func movesBetweenFolders() throws {
        try testFolder.folder("from")
        try testFolder.folder("to")
        try testFolder.file("from/f")
        let from = try Folder(opening: testFolder["from"])
        let to = try Folder(opening: testFolder["to"])
        try from.rename("f", to: to, as: "g", replacing: false)
        #expect(try testFolder.content("to/g") == "content")
        #expect(try from.names() == [])
        try testFolder.file("from/f", "more")
        #expect(
            failure(naming: testFolder["to/g"]) { try from.rename("f", to: to, as: "g", replacing: false) }
                == .unwritable)
        try from.rename("f", to: to, as: "g", replacing: true)
        #expect(try testFolder.content("to/g") == "more")
    }

    @Test func reportsTheMissingPath() throws {
        try testFolder.file("f")
        #expect(
            failure(naming: testFolder["absent"]) {
                try FileSystem.move(testFolder["absent"], to: testFolder["g"])
            } == .missing)
        #expect(
            failure(naming: testFolder["no/g"]) {
                try FileSystem.move(testFolder["f"], to: testFolder["no/g"])
            } == .unwritable)
        let folder = try Folder(opening: testFolder.path)
        #expect(
            failure(naming: testFolder["absent"]) {
                try folder.rename("absent", to: folder, as: "g", replacing: false)
            } == .missing)
        #expect(try testFolder.names() == ["f"])
    }
}
