import Glibc
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

/// Full disks, read-only file systems and permissions, each in its own process.
struct RefusalTests {
    let testFolder: TemporaryFolder
    init() throws { testFolder = try TemporaryFolder() }

    @Test(.enabled(if: Mounts.areAllowed, Mounts.reason)) func aFullDiskLeavesNothingBehind() async throws {
        await #expect(processExitsWith: .success) { [place = testFolder.path.string as String] in
            Mounts.tmpfs(at: place, "size=1m")
            let path = FilePath(place)
            let small: [UInt8] = [1]
            let big = [UInt8](repeating: 7, count: 2 << 20)
            let target = path.appending("target")
            try DurableFile.write(small.span, to: target, permissions: 0o644, replacing: false)

            let error = #expect(throws: VaultError.self) {
                try DurableFile.write(big.span, to: target, permissions: 0o644, replacing: true)
            }
            #expect(error?.category == .diskFull)
            #expect(error?.problem.contains("disk full") == true)
            #expect(error?.place.hasPrefix(place) == true)
            #expect(try DurableFile.read(target, limit: 9) == [1])

            let scratch = try ScratchFile(for: path.appending("other"))
            #expect(failure(naming: path) { try scratch.file.allocate(2 << 20) } == .diskFull)
            _ = consume scratch

            let source = try OpenFile(
                creating: FilePath("/tmp").appending("\(path.lastComponent!.string)-big"), permissions: 0o600)
            defer { try? FileSystem.removeFile(source.path) }
            try source.write(big.span, at: 0)
            #expect(
                failure(naming: path) {
                    _ = try FileMove(from: source.path, to: path.appending("copy")) { _ in }
                } == .diskFull)
            #expect(try Folder(opening: path).names() == [Array("target".utf8)])
        }
    }

    @Test(.enabled(if: Mounts.areAllowed, Mounts.reason)) func aReadOnlyFileSystemIsUnwritable() async throws
    {
        await #expect(processExitsWith: .success) { [place = testFolder.path.string as String] in
            Mounts.tmpfs(at: place, "ro,size=1m")
            try refusesAllChanges(in: FilePath(place))
        }
    }

    @Test func aFolderOfAnotherUserIsUnwritable() async throws {
        await #expect(processExitsWith: .success) { [place = testFolder.path.string as String] in
            becomeOrdinaryUser(owning: place)
            _ = unsafe chmod(place, 0o500)
            try refusesAllChanges(in: FilePath(place))
            _ = unsafe chmod(place, 0o700)
        }
    }

    @Test func anUnreadableFileIsAnIOError() async throws {
        try testFolder.file("f")
        try testFolder.folder("sub")
        await #expect(processExitsWith: .success) { [place = testFolder.path.string as String] in
            becomeOrdinaryUser(owning: place)
            let folder = try Folder(opening: FilePath(place))
            _ = try folder.createFile("secret", permissions: 0)
            try folder.createFolder("closed", permissions: 0)
            let secret = FilePath(place).appending("secret")
            #expect(failure(naming: secret) { _ = try OpenFile(reading: secret) } == .io)
            #expect(failure(naming: secret) { _ = try folder.openFile("secret") } == .io)
            #expect(failure(naming: secret) { _ = try OpenFile(updating: secret) } == .unwritable)
            let closed = FilePath(place).appending("closed")
            #expect(failure(naming: closed) { _ = try Folder(opening: closed) } == .io)
            #expect(failure(naming: closed) { _ = try FileSystem.status(of: closed.appending("f")) } == .io)
        }
    }

    @Test func permissionsDoNotDependOnTheUmask() async throws {
        await #expect(processExitsWith: .success) { [place = testFolder.path.string as String] in
            becomeOrdinaryUser(owning: place)
            let bytes: [UInt8] = []
            for mask: mode_t in [0, 0o022, 0o077, 0o777] {
                umask(mask)
                let path = FilePath(place).appending("mask-\(mask)")
                func expect(_ permissions: UInt16, _ name: String) throws {
                    #expect(
                        try FileSystem.status(of: path.pushing(FilePath(name)))?.permissions == permissions,
                        "\(mask) \(name)")
                }
                try FileSystem.createFolders(path.appending("folders"), permissions: 0o755)
                try expect(0o755, "")
                try expect(0o755, "folders")
                _ = try OpenFile(creating: path.appending("open"), permissions: 0o666)
                try expect(0o666, "open")
                let folder = try Folder(creating: path.appending("folder"), permissions: 0o777)
                try expect(0o777, "folder")
                _ = try folder.createFile("file", permissions: 0o640)
                try expect(0o640, "folder/file")
                try folder.createFolder("sub", permissions: 0o1777)
                try expect(0o1777, "folder/sub")
                try DurableFile.write(
                    bytes.span, to: path.appending("durable"), permissions: 0o644, replacing: false)
                try expect(0o644, "durable")
                let scratch = try ScratchFolder(in: path)
                #expect(try scratch.folder.status().permissions == 0o700)
                try scratch.commit(to: path.appending("scratch"), permissions: 0o755)
                try expect(0o755, "scratch")
                _ = try FileLock.tryAcquire(path.appending("lock"), .exclusive)
                try expect(0o600, "lock")
            }
        }
    }
}

/// All ways to create something in a folder without write permission.
private func refusesAllChanges(in path: FilePath) throws {
    let folder = try Folder(opening: path)
    let new = path.appending("new")
    #expect(failure(naming: new) { _ = try OpenFile(creating: new, permissions: 0o644) } == .unwritable)
    #expect(failure(naming: new) { _ = try folder.createFile("new", permissions: 0o644) } == .unwritable)
    #expect(failure(naming: new) { try folder.createFolder("new", permissions: 0o755) } == .unwritable)
    #expect(failure(naming: new) { try folder.symlink("new", target: "x") } == .unwritable)
    #expect(failure(naming: new) { try FileSystem.createFolders(new, permissions: 0o755) } == .unwritable)
    #expect(failure(naming: new) { _ = try FileLock.tryAcquire(new, .shared) } == .unwritable)
    #expect(failure(naming: path) { _ = try ScratchFile(for: new) } == .unwritable)
    #expect(failure(naming: path) { _ = try ScratchFolder(beside: new) } == .unwritable)
    #expect(
        failure(naming: path) {
            try DurableFile.write([1].span, to: new, permissions: 0o644, replacing: true)
        } == .unwritable)
}
