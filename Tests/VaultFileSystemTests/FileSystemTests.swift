import Glibc
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

struct FileSystemTests {
    let testFolder: TemporaryFolder
    init() throws { testFolder = try TemporaryFolder() }

    @Test func createsMissingFolders() throws {
        try testFolder.folder("a", 0o700)
        try FileSystem.createFolders(testFolder["a/b/c"], permissions: 0o755)
        #expect(try testFolder.permissions("a") == 0o700)
        #expect(try testFolder.permissions("a/b") == 0o755)
        #expect(try testFolder.permissions("a/b/c") == 0o755)
        try FileSystem.createFolders(testFolder["a/b/c"], permissions: 0o700)
        #expect(try testFolder.permissions("a/b/c") == 0o755)
        try testFolder.link("to-a", to: "a")
        try FileSystem.createFolders(testFolder["to-a/d"], permissions: 0o750)
        #expect(try testFolder.permissions("a/d") == 0o750)
        try FileSystem.createFolders(testFolder["a/x/../y"], permissions: 0o755)
        #expect(try testFolder.permissions("a/y") == 0o755)
    }

    @Test func refusesToCreateAFolderOverAFile() throws {
        let file = try testFolder.file("f")
        try testFolder.link("dangling", to: "elsewhere")
        #expect(
            failure(naming: file) { try FileSystem.createFolders(file, permissions: 0o755) } == .unwritable)
        for name in ["f/below", "dangling"] {
            let path = testFolder[name]
            #expect(
                failure(naming: path) { try FileSystem.createFolders(path, permissions: 0o755) }
                    == .unwritable)
        }
    }

    @Test func createsFoldersConcurrently() async throws {
        let path = testFolder["a/b/c/d/e/f"]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { try FileSystem.createFolders(path, permissions: 0o755) }
            }
            try await group.waitForAll()
        }
        #expect(try FileSystem.status(of: path)?.kind == .folder)
    }

    /// A folder that another process removes meanwhile is not a file that has the name.
    @Test func createsFoldersWhileTheyAreRemoved() async throws {
        let path = testFolder["a"]
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<5_000 { try FileSystem.removeTree(path) }
            }
            group.addTask {
                for _ in 0..<5_000 {
                    do throws(VaultError) {
                        try FileSystem.createFolders(path, permissions: 0o755)
                    } catch {
                        #expect(error.category == .busy, "\(error)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func reportsStatusAndExistence() throws {
        let file = try testFolder.file("f", "12345")
        try testFolder.link("link", to: "f")
        try testFolder.link("dangling", to: "elsewhere")
        let status = try #require(try FileSystem.status(of: file))
        #expect(
            status.kind == .file && status.size == 5 && status.permissions == 0o600 && status.hardLinks == 1)
        #expect(status.owner == geteuid())
        #expect(try FileSystem.status(of: testFolder["link"])?.kind == .link)
        let followed = try #require(try FileSystem.status(of: testFolder["link"], followingLinks: true))
        #expect(followed.isSameFile(as: status))
        #expect(try !followed.isSameFile(as: OpenFile(reading: testFolder.file("g")).status()))
        #expect(try FileSystem.exists(testFolder["dangling"]))
        #expect(try FileSystem.status(of: testFolder["dangling"], followingLinks: true) == nil)
        #expect(try !FileSystem.exists(testFolder["absent"]))
        #expect(try !FileSystem.exists(testFolder["f/below"]))
        var times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 1_700_000_000, tv_nsec: 5)]
        try unsafe #require(utimensat(AT_FDCWD, file.string, &times, 0) == 0)
        #expect(try FileSystem.status(of: file)?.modified == 1_700_000_000_000_000_005)
        #expect(try #require(try FileSystem.status(of: file)).changed > 1_700_000_000_000_000_005)
    }

    @Test func reportsAvailableSpace() throws {
        #expect(try FileSystem.availableSpace(at: testFolder.path) > 0)
        #expect(
            failure(naming: testFolder["absent"]) {
                _ = try FileSystem.availableSpace(at: testFolder["absent"])
            } == .missing)
        #expect(try FileSystem.sameFileSystem(testFolder.path, testFolder["."]))
        #expect(try !FileSystem.sameFileSystem(testFolder.path, "/proc"))
        #expect(
            failure(naming: testFolder["absent"]) {
                _ = try FileSystem.sameFileSystem(testFolder.path, testFolder["absent"])
            } == .missing)
    }
}
