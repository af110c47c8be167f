import Glibc
import SystemPackage
import Testing
import VaultErrors
import VaultFileSystem

struct FileSystemTests {
    let workplace: Workplace
    init() throws { workplace = try Workplace() }

    @Test func makesFoldersWhereTheyAreMissing() throws {
        try workplace.folder("a", 0o700)
        try FileSystem.createFolders(workplace["a/b/c"], permissions: 0o755)
        #expect(try workplace.permissions("a") == 0o700)
        #expect(try workplace.permissions("a/b") == 0o755)
        #expect(try workplace.permissions("a/b/c") == 0o755)
        try FileSystem.createFolders(workplace["a/b/c"], permissions: 0o700)
        #expect(try workplace.permissions("a/b/c") == 0o755)
        try workplace.link("to-a", to: "a")
        try FileSystem.createFolders(workplace["to-a/d"], permissions: 0o750)
        #expect(try workplace.permissions("a/d") == 0o750)
        try FileSystem.createFolders(workplace["a/x/../y"], permissions: 0o755)
        #expect(try workplace.permissions("a/y") == 0o755)
    }

    @Test func makesNoFolderOfAFile() throws {
        let file = try workplace.file("f")
        try workplace.link("dangling", to: "elsewhere")
        #expect(
            failure(naming: file) { try FileSystem.createFolders(file, permissions: 0o755) } == .unwritable)
        for name in ["f/below", "dangling"] {
            let path = workplace[name]
            #expect(
                failure(naming: path) { try FileSystem.createFolders(path, permissions: 0o755) }
                    == .unwritable)
        }
    }

    @Test func makesFoldersForManyAtOnce() async throws {
        let path = workplace["a/b/c/d/e/f"]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { try FileSystem.createFolders(path, permissions: 0o755) }
            }
            try await group.waitForAll()
        }
        #expect(try FileSystem.status(of: path)?.kind == .folder)
    }

    @Test func tellsWhatStandsThere() throws {
        let file = try workplace.file("f", "12345")
        try workplace.link("link", to: "f")
        try workplace.link("dangling", to: "elsewhere")
        let status = try #require(try FileSystem.status(of: file))
        #expect(status.kind == .file && status.size == 5 && status.permissions == 0o600 && status.links == 1)
        #expect(status.owner == geteuid())
        #expect(try FileSystem.status(of: workplace["link"])?.kind == .link)
        let followed = try #require(try FileSystem.status(of: workplace["link"], followingLinks: true))
        #expect(followed.isSameFile(as: status))
        #expect(try !followed.isSameFile(as: OpenFile(reading: workplace.file("g")).status()))
        #expect(try FileSystem.exists(workplace["dangling"]))
        #expect(try FileSystem.status(of: workplace["dangling"], followingLinks: true) == nil)
        #expect(try !FileSystem.exists(workplace["absent"]))
        #expect(try !FileSystem.exists(workplace["f/below"]))
        var times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 1_700_000_000, tv_nsec: 5)]
        try unsafe #require(utimensat(AT_FDCWD, file.string, &times, 0) == 0)
        #expect(try FileSystem.status(of: file)?.modified == 1_700_000_000_000_000_005)
        #expect(try #require(try FileSystem.status(of: file)).changed > 1_700_000_000_000_000_005)
    }

    @Test func measuresSpace() throws {
        #expect(try FileSystem.availableSpace(at: workplace.path) > 0)
        #expect(
            failure(naming: workplace["absent"]) {
                _ = try FileSystem.availableSpace(at: workplace["absent"])
            } == .missing)
        #expect(try FileSystem.sameFileSystem(workplace.path, workplace["."]))
        #expect(try !FileSystem.sameFileSystem(workplace.path, "/proc"))
        #expect(
            failure(naming: workplace["absent"]) {
                _ = try FileSystem.sameFileSystem(workplace.path, workplace["absent"])
            } == .missing)
    }
}
