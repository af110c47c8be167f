import Glibc
import SystemPackage
import Testing
import VaultErrors
import VaultFileSystem

struct RenameTests {
    let workplace: Workplace
    init() throws { workplace = try Workplace() }

    @Test func replacesNothingUnasked() throws {
        try workplace.file("new", "new")
        try workplace.file("old", "old")
        try workplace.folder("empty")
        try workplace.link("dangling", to: "elsewhere")
        for name in ["old", "empty", "dangling"] {
            #expect(
                failure(naming: workplace[name]) {
                    try FileSystem.move(workplace["new"], to: workplace[name])
                } == .unwritable)
        }
        #expect(try workplace.content("old") == "old")
        try FileSystem.move(workplace["new"], to: workplace["old"], replacing: true)
        #expect(try workplace.content("old") == "new")
        #expect(try workplace.names() == ["dangling", "empty", "old"])
    }

    @Test func replacesAFolderOnlyWhenEmpty() throws {
        for name in ["one", "two", "full"] { try workplace.folder(name) }
        try workplace.file("full/f")
        #expect(
            failure(naming: workplace["two"]) { try FileSystem.move(workplace["one"], to: workplace["two"]) }
                == .unwritable)
        #expect(
            failure(naming: workplace["full"]) {
                try FileSystem.move(workplace["one"], to: workplace["full"], replacing: true)
            } == .unwritable)
        try FileSystem.move(workplace["full"], to: workplace["two"], replacing: true)
        #expect(try workplace.content("two/f") == "content")
    }

    @Test func movesBetweenFolders() throws {
        try workplace.folder("from")
        try workplace.folder("to")
        try workplace.file("from/f")
        let from = try Folder(opening: workplace["from"])
        let to = try Folder(opening: workplace["to"])
        try from.rename("f", to: to, as: "g", replacing: false)
        #expect(try workplace.content("to/g") == "content")
        #expect(try from.names() == [])
        try workplace.file("from/f", "more")
        #expect(
            failure(naming: workplace["to/g"]) { try from.rename("f", to: to, as: "g", replacing: false) }
                == .unwritable)
        try from.rename("f", to: to, as: "g", replacing: true)
        #expect(try workplace.content("to/g") == "more")
    }

    @Test func saysWhichEndIsMissing() throws {
        try workplace.file("f")
        #expect(
            failure(naming: workplace["absent"]) {
                try FileSystem.move(workplace["absent"], to: workplace["g"])
            } == .missing)
        #expect(
            failure(naming: workplace["no/g"]) {
                try FileSystem.move(workplace["f"], to: workplace["no/g"])
            } == .unwritable)
        let folder = try Folder(opening: workplace.path)
        #expect(
            failure(naming: workplace["absent"]) {
                try folder.rename("absent", to: folder, as: "g", replacing: false)
            } == .missing)
        #expect(try workplace.names() == ["f"])
    }
}
