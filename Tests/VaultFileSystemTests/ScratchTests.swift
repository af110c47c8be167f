import Glibc
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

struct ScratchTests {
    let testFolder: TemporaryFolder
    init() throws { testFolder = try TemporaryFolder(in: "/dev/shm") }

    @Test func isRemovedUnlessCommitted() throws {
        do {
            let file = try ScratchFile(for: testFolder["file"])
            try file.file.writeNext([1].span)
            let folder = try ScratchFolder(beside: testFolder["folder"])
            try folder.folder.createFolder("sub", permissions: 0o500)
            _ = try ScratchFolder(in: folder.path)
            #expect(try testFolder.names().count == 2)
            #expect(try folder.folder.status().permissions == 0o700)
            #expect(try file.file.status().permissions == 0o600)
        }
        #expect(try testFolder.names() == [])
    }

    @Test func commitGivesTheFinalName() throws {
        let file = try ScratchFile(for: testFolder["file"])
        try file.file.writeNext([1].span)
        try file.commit(permissions: 0o640, replacing: false)
        #expect(try testFolder.permissions("file") == 0o640)

        let folder = try ScratchFolder(beside: testFolder["tree"])
        _ = try folder.folder.createFile("f", permissions: 0o644)
        try folder.commit(to: testFolder["tree"], permissions: 0o755)
        #expect(try testFolder.permissions("tree") == 0o755)
        #expect(try testFolder.names() == ["file", "tree"])

        // Into another folder, then without other entries.
        try testFolder.folder("versions")
        let other = try ScratchFolder(in: testFolder.path)
        try other.commit(to: testFolder["versions/1"], permissions: 0o555)
        #expect(try testFolder.permissions("versions/1") == 0o555)

        let kept = try ScratchFolder(in: testFolder["versions"]).keep()
        #expect(try FileSystem.status(of: kept)?.kind == .folder)
    }

    @Test func replacesOnlyWhereAllowed() throws {
        try testFolder.file("file")
        try testFolder.folder("full")
        try testFolder.file("full/f")
        try testFolder.folder("empty")
        for name in ["file", "full", "empty", "absent/name"] {
            let path = testFolder[name]
            let replacing = name != "empty"
            #expect(
                failure(naming: path) {
                    try ScratchFolder(in: testFolder.path).commit(
                        to: path, permissions: 0o755, replacingEmptyFolder: replacing)
                } == .unwritable, "\(name)")
        }
        for name in ["full", "empty"] {
            #expect(
                failure(naming: testFolder[name]) {
                    try ScratchFile(for: testFolder[name]).commit(permissions: 0o644, replacing: true)
                } == .unwritable, "\(name)")
        }
        try ScratchFolder(in: testFolder.path).commit(
            to: testFolder["empty"], permissions: 0o711, replacingEmptyFolder: true)
        #expect(try testFolder.permissions("empty") == 0o711)
        #expect(try testFolder.names() == ["empty", "file", "full"])
        #expect(try testFolder.content("full/f") == "content")
    }

    @Test func onlyAbandonedScratchIsRemoved() async throws {
        try testFolder.file(".assetvault-but-mine")
        try testFolder.file("mine.tmp")
        await #expect(processExitsWith: .signal(SIGKILL)) { [place = testFolder.path.string as String] in
            let file = try ScratchFile(for: FilePath(place).appending("f"))
            let folder = try ScratchFolder(in: FilePath(place))
            _ = try folder.folder.createFile("f", permissions: 0o600)
            try folder.folder.setPermissions(0o500)
            try file.file.setPermissions(0o400)
            raise(SIGKILL)
            _ = try file.file.status()
        }
        #expect(try testFolder.names().count == 4)
        let folder = try Folder(opening: testFolder.path)
        let living = try ScratchFolder(in: testFolder.path)
        let livingFile = try ScratchFile(for: testFolder["f"])
        #expect(try folder.removeAbandonedScratch() == 2)
        #expect(try folder.removeAbandonedScratch() == 0)
        #expect(try folder.names().count == 4)
        try livingFile.commit(permissions: 0o644, replacing: false)
        try living.commit(to: testFolder["tree"], permissions: 0o755)
        #expect(try testFolder.names() == [".assetvault-but-mine", "f", "mine.tmp", "tree"])
    }

    /// A concurrent clean-up causes at most a clear error.
    @Test func concurrentCleanUpIsSafe() async throws {
        let path = testFolder.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<300 { try Folder(opening: path).removeAbandonedScratch() }
            }
            group.addTask {
                for number in 0..<300 {
                    do {
                        let scratch = try ScratchFolder(in: path)
                        _ = try scratch.folder.createFile("f", permissions: 0o600)
                        let kept = scratch.path
                        #expect(try FileSystem.exists(kept.appending("f")), "\(number)")
                        _ = try scratch.folder.status()
                    } catch let error as VaultError {
                        #expect(error.category == .busy, "\(error)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try testFolder.names() == [])
    }
}
