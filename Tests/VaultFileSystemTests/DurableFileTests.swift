import Glibc
import SystemPackage
import Testing
import VaultErrors
import VaultFileSystem

struct DurableFileTests {
    let workplace: Workplace
    init() throws { workplace = try Workplace() }
    private let one: [UInt8] = Array("one".utf8)
    private let nothing: [UInt8] = []
    private let refusal = VaultError(.corrupt, "refused", at: "refused", remedy: "none")

    @Test func writesWholeFiles() throws {
        let path = workplace["f"]
        try DurableFile.write(one.span, to: path, permissions: 0o644, replacing: false)
        #expect(try DurableFile.read(path, limit: 3) == one)
        #expect(
            failure(naming: path) {
                try DurableFile.write(nothing.span, to: path, permissions: 0o644, replacing: false)
            } == .unwritable)
        #expect(try workplace.content("f") == "one")
        try DurableFile.write(nothing.span, to: path, permissions: 0o600, replacing: true)
        #expect(try DurableFile.read(path, limit: 0) == [])
        #expect(try workplace.permissions("f") == 0o600)
        #expect(try workplace.names() == ["f"])
    }

    @Test func readsNoMoreThanAllowed() throws {
        try workplace.file("f", "four")
        #expect(try DurableFile.read(workplace["f"], limit: 4).count == 4)
        #expect(
            failure(naming: workplace["f"]) { _ = try DurableFile.read(workplace["f"], limit: 3) } == .corrupt
        )
        #expect(
            failure(naming: workplace["g"]) { _ = try DurableFile.read(workplace["g"], limit: 3) } == .missing
        )
        // Its status says that it has no bytes.
        #expect(
            failure(naming: "/proc/cpuinfo") { _ = try DurableFile.read("/proc/cpuinfo", limit: 3) }
                == .corrupt)
    }

    @Test func neverReplacesAFolderNorFollowsALink() throws {
        try workplace.folder("folder")
        try workplace.file("f", "target")
        try workplace.link("link", to: "f")
        #expect(
            failure(naming: workplace["folder"]) {
                try DurableFile.write(one.span, to: workplace["folder"], permissions: 0o644, replacing: true)
            } == .unwritable)
        try DurableFile.write(one.span, to: workplace["link"], permissions: 0o644, replacing: true)
        #expect(try workplace.content("f") == "target")
        #expect(try FileSystem.status(of: workplace["link"])?.kind == .file)
        for path in [workplace["absent/f"], workplace["f/below"]] {
            #expect(
                failure(naming: path) {
                    try DurableFile.write(one.span, to: path, permissions: 0o644, replacing: true)
                } == .unwritable)
        }
        #expect(
            failure(naming: "..") {
                try DurableFile.write(one.span, to: "..", permissions: 0o644, replacing: true)
            } == .usage)
        #expect(try workplace.names() == ["f", "folder", "link"])
    }

    @Test func copiesOnlyWhatIsVerified() throws {
        let content = String(repeating: "0123456789", count: 300_000)
        let source = try workplace.file("source", content)
        let target = workplace["target"]
        #expect(
            failure(naming: "refused") {
                try DurableFile.copy(from: source, to: target, permissions: 0o644) { (_) throws(VaultError) in
                    throw refusal
                }
            } == .corrupt)
        #expect(try workplace.names() == ["source"])
        var seen: [UInt8] = []
        try DurableFile.copy(from: source, to: target, permissions: 0o644) { (copy) throws(VaultError) in
            seen = try copy.readAll(limit: .max - 1)
        }
        #expect(seen == Array(content.utf8))
        #expect(try DurableFile.read(target, limit: 3_000_000) == seen)
        #expect(
            failure(naming: target) {
                try DurableFile.copy(from: source, to: target, permissions: 0o644) { _ in }
            } == .unwritable)
        #expect(
            failure(naming: workplace["absent"]) {
                try DurableFile.copy(from: workplace["absent"], to: workplace["g"], permissions: 0o644) { _ in
                }
            } == .missing)
        #expect(try workplace.names() == ["source", "target"])
    }

    @Test func movesWithinAFileSystemByRename() throws {
        let source = try workplace.file("source")
        let inode = try OpenFile(reading: source).status().inode
        #expect(
            failure(naming: "refused") {
                try DurableFile.move(from: source, to: workplace["target"]) { (_) throws(VaultError) in
                    throw refusal
                }
            } == .corrupt)
        #expect(try workplace.names() == ["source"])
        try DurableFile.move(from: source, to: workplace["target"]) { (file) throws(VaultError) in
            #expect(try file.status().inode == inode)
        }
        #expect(try FileSystem.status(of: workplace["target"])?.inode == inode)
        try workplace.file("source")
        #expect(
            failure(naming: workplace["target"]) {
                try DurableFile.move(from: source, to: workplace["target"]) { _ in }
            } == .unwritable)
        #expect(try workplace.names() == ["source", "target"])
    }

    @Test(.enabled(if: Mounts.areAllowed, Mounts.reason)) func movesAcrossFileSystemsByACopy() async throws {
        try workplace.folder("mount")
        try workplace.file("source")
        await #expect(processExitsWith: .success) { [place = workplace.path.string as String] in
            let refusal = VaultError(.corrupt, "refused", at: "refused", remedy: "none")
            let source = FilePath(place).appending("source")
            let mount = FilePath(place).appending("mount")
            let target = mount.appending("target")
            Mounts.tmpfs(at: mount.string, "size=1m")
            #expect(try !FileSystem.sameFileSystem(source, mount))
            #expect(failure(naming: target) { try FileSystem.move(source, to: target) } == .io)
            #expect(
                failure(naming: "refused") {
                    try DurableFile.move(from: source, to: target) { (_) throws(VaultError) in throw refusal }
                } == .corrupt)
            #expect(try Folder(opening: mount).names() == [])
            #expect(try FileSystem.exists(source))
            try DurableFile.move(from: source, to: target) { (copy) throws(VaultError) in
                #expect(copy.path.starts(with: mount))
                #expect(try copy.readAll(limit: 99) == Array("content".utf8))
            }
            #expect(try DurableFile.read(target, limit: 99) == Array("content".utf8))
            #expect(try !FileSystem.exists(source))
            #expect(try FileSystem.status(of: target)?.permissions == 0o600)
        }
    }

    /// Readers see the old or the new content, never a part, and never none.
    @Test func isNeverSeenHalfDone() async throws {
        let path = workplace["f"]
        let contents = (0..<2).map { [UInt8](repeating: $0, count: 100_000) }
        let first = contents[0]
        try DurableFile.write(first.span, to: path, permissions: 0o644, replacing: false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<40 {
                    let content = contents[number % 2]
                    try DurableFile.write(content.span, to: path, permissions: 0o644, replacing: true)
                }
            }
            group.addTask {
                for _ in 0..<400 {
                    let content = try DurableFile.read(path, limit: 100_000)
                    #expect(contents.contains(content))
                }
            }
            try await group.waitForAll()
        }
    }
}
