import Glibc
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

struct FileMoveTests {
    let testFolder: TemporaryFolder
    init() throws { testFolder = try TemporaryFolder() }
    private let refusal = VaultError(.corrupt, "refused", at: "refused", remedy: "none")

    @Test func renamesWithinAFileSystem() throws {
        let source = try testFolder.file("source")
        let target = testFolder["target"]
        let inode = try OpenFile(reading: source).status().inode
        #expect(
            failure(naming: "refused") {
                try FileMove(from: source, to: target) { [refusal] (_) throws(VaultError) in throw refusal }
                    .commit()
            } == .corrupt)
        #expect(try testFolder.names() == ["source"])
        let move = try FileMove(from: source, to: target) { (file) throws(VaultError) in
            #expect(try file.status().inode == inode)
        }
        #expect(try testFolder.names() == ["source"])
        try move.commit()
        #expect(try FileSystem.status(of: target)?.inode == inode)
        try testFolder.file("source")
        #expect(
            failure(naming: target) { try FileMove(from: source, to: target) { _ in }.commit() }
                == .unwritable)
        #expect(try testFolder.names() == ["source", "target"])
    }

    /// A file that replaces the source after the check does not get the new name.
    @Test(arguments: ["file", "link", "folder"]) func refusesAReplacedSource(kind: String) throws {
        let source = try testFolder.file("source")
        let (target, other) = (testFolder["target"], testFolder["other"])
        if kind == "folder" { try testFolder.folder("other") } else { try testFolder.file("other") }
        let place = testFolder.path
        #expect(
            failure(naming: source) {
                try FileMove(from: source, to: target) { (_) throws(VaultError) in
                    try FileSystem.removeFile(source)
                    if kind == "link" {
                        try Folder(opening: place).replaceLink("source", target: other)
                    } else {
                        try FileSystem.move(other, to: source)
                    }
                }.commit()
            } == .corrupt)
        #expect(try !testFolder.names().contains("target"))
    }

    @Test(.enabled(if: Mounts.areAllowed, Mounts.reason)) func copiesAcrossFileSystems() async throws {
        try testFolder.folder("mount")
        try testFolder.file("source", String(repeating: "0123456789", count: 300_000))
        await #expect(processExitsWith: .success) { [place = testFolder.path.string as String] in
            let refusal = VaultError(.corrupt, "refused", at: "refused", remedy: "none")
            let source = FilePath(place).appending("source")
            let mount = FilePath(place).appending("mount")
            let target = mount.appending("target")
            let content = try DurableFile.read(source, limit: 3_000_000)
            Mounts.tmpfs(at: mount.string, "size=8m")
            #expect(try !FileSystem.sameFileSystem(source, mount))
            #expect(failure(naming: target) { try FileSystem.move(source, to: target) } == .io)
            #expect(
                failure(naming: "refused") {
                    try FileMove(from: source, to: target) { (_) throws(VaultError) in throw refusal }
                        .commit()
                } == .corrupt)
            #expect(try Folder(opening: mount).names() == [])
            do { _ = try FileMove(from: source, to: target) { _ in } }
            #expect(try Folder(opening: mount).names() == [])
            #expect(try FileSystem.exists(source))

            let move = try FileMove(from: source, to: target) { (copy) throws(VaultError) in
                #expect(copy.path.starts(with: mount))
                #expect(try copy.readAll(limit: 3_000_000) == content)
            }
            #expect(try !FileSystem.exists(target))
            try move.commit()
            #expect(try DurableFile.read(target, limit: 3_000_000) == content)
            #expect(try !FileSystem.exists(source))
            #expect(try FileSystem.status(of: target)?.permissions == 0o600)
        }
    }

    /// The device is the same, but a rename is refused.
    @Test(.enabled(if: Mounts.areAllowed, Mounts.reason)) func copiesAcrossABindMount() async throws {
        try testFolder.folder("mount")
        try testFolder.file("source")
        await #expect(processExitsWith: .success) { [place = testFolder.path.string as String] in
            let source = FilePath(place).appending("source")
            let mount = FilePath(place).appending("mount")
            Mounts.bind(mount.string, at: mount.string)
            #expect(try FileSystem.sameFileSystem(source, mount))
            try FileMove(from: source, to: mount.appending("target")) { _ in }.commit()
            #expect(try DurableFile.read(mount.appending("target"), limit: 99) == Array("content".utf8))
            #expect(try !FileSystem.exists(source))
        }
    }
}
