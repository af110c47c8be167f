import Glibc
import SystemPackage
import Testing
import VaultErrors
import VaultFileSystem

struct ScratchTests {
    let workplace: Workplace
    init() throws { workplace = try Workplace(in: "/dev/shm") }

    @Test func goesAwayUnlessCommitted() throws {
        do {
            let file = try ScratchFile(for: workplace["file"])
            try file.file.writeNext([1].span)
            let folder = try ScratchFolder(beside: workplace["folder"])
            try folder.folder.createFolder("sub", permissions: 0o500)
            _ = try ScratchFolder(in: folder.path)
            #expect(try workplace.names().count == 2)
            #expect(try folder.folder.status().permissions == 0o700)
            #expect(try file.file.status().permissions == 0o600)
        }
        #expect(try workplace.names() == [])
    }

    @Test func becomesFinal() throws {
        let file = try ScratchFile(for: workplace["file"])
        try file.file.writeNext([1].span)
        try file.commit(permissions: 0o640, replacing: false)
        #expect(try workplace.permissions("file") == 0o640)

        let folder = try ScratchFolder(beside: workplace["tree"])
        _ = try folder.folder.createFile("f", permissions: 0o644)
        try folder.commit(to: workplace["tree"], permissions: 0o755)
        #expect(try workplace.permissions("tree") == 0o755)
        #expect(try workplace.names() == ["file", "tree"])

        // Into another folder, which holds nothing else then.
        try workplace.folder("versions")
        let other = try ScratchFolder(in: workplace.path)
        try other.commit(to: workplace["versions/1"], permissions: 0o555)
        #expect(try workplace.permissions("versions/1") == 0o555)

        let kept = try ScratchFolder(in: workplace["versions"]).keep()
        #expect(try FileSystem.status(of: kept)?.kind == .folder)
    }

    @Test func replacesOnlyWhatItMay() throws {
        try workplace.file("file")
        try workplace.folder("full")
        try workplace.file("full/f")
        try workplace.folder("empty")
        for name in ["file", "full", "empty", "absent/name"] {
            let path = workplace[name]
            let replacing = name != "empty"
            #expect(
                failure(naming: path) {
                    try ScratchFolder(in: workplace.path).commit(
                        to: path, permissions: 0o755, replacingEmptyFolder: replacing)
                } == .unwritable, "\(name)")
        }
        for name in ["full", "empty"] {
            #expect(
                failure(naming: workplace[name]) {
                    try ScratchFile(for: workplace[name]).commit(permissions: 0o644, replacing: true)
                } == .unwritable, "\(name)")
        }
        try ScratchFolder(in: workplace.path).commit(
            to: workplace["empty"], permissions: 0o711, replacingEmptyFolder: true)
        #expect(try workplace.permissions("empty") == 0o711)
        #expect(try workplace.names() == ["empty", "file", "full"])
        #expect(try workplace.content("full/f") == "content")
    }

    @Test func onlyAbandonedScratchIsRemoved() async throws {
        try workplace.file(".assetvault-but-mine")
        try workplace.file("mine.tmp")
        await #expect(processExitsWith: .signal(SIGKILL)) { [place = workplace.path.string as String] in
            let file = try ScratchFile(for: FilePath(place).appending("f"))
            let folder = try ScratchFolder(in: FilePath(place))
            _ = try folder.folder.createFile("f", permissions: 0o600)
            try folder.folder.setPermissions(0o500)
            try file.file.setPermissions(0o400)
            raise(SIGKILL)
            _ = try file.file.status()
        }
        #expect(try workplace.names().count == 4)
        let folder = try Folder(opening: workplace.path)
        let living = try ScratchFolder(in: workplace.path)
        let livingFile = try ScratchFile(for: workplace["f"])
        #expect(try folder.removeAbandonedScratch() == 2)
        #expect(try folder.removeAbandonedScratch() == 0)
        #expect(try folder.names().count == 4)
        try livingFile.commit(permissions: 0o644, replacing: false)
        try living.commit(to: workplace["tree"], permissions: 0o755)
        #expect(try workplace.names() == [".assetvault-but-mine", "f", "mine.tmp", "tree"])
    }

    /// Cleaning up at every moment costs others at most a clear error.
    @Test func cleaningUpDisturbsNobody() async throws {
        let path = workplace.path
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
        #expect(try workplace.names() == [])
    }
}
