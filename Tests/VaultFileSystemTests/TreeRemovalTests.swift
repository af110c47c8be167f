import Foundation
import Sampling
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

struct TreeRemovalTests {
    let testFolder: TemporaryFolder
    init() throws { testFolder = try TemporaryFolder() }

    @Test func removesTreesWithoutFollowingLinks() throws {
        try testFolder.folder("kept")
        try testFolder.file("kept/precious")
        try testFolder.folder("tree")
        try testFolder.folder("tree/sub")
        for number in 0..<500 { try testFolder.file("tree/sub/\(number)", "") }
        try testFolder.pipe("tree/pipe")
        try testFolder.link("tree/out", to: "../kept")
        try testFolder.link("tree/sub/file", to: "../../kept/precious")
        try testFolder.link("tree/loop", to: "loop")
        try testFolder.link("to-kept", to: "kept")
        _ = try Folder(opening: testFolder["tree"]).createFile([0xFF, 0x0A], permissions: 0)
        try FileSystem.removeTree(testFolder["tree"])
        try FileSystem.removeTree(testFolder["tree"])
        try FileSystem.removeTree(testFolder["to-kept"])
        try FileSystem.removeTree(testFolder["absent/below"])
        #expect(try testFolder.names() == ["kept"])
        #expect(try testFolder.content("kept/precious") == "content")
        try FileSystem.removeTree(testFolder["kept/precious"])
        #expect(try FileSystem.exists(testFolder["kept/precious"]) == false)
    }

    /// More folders side by side, and inside each other, than are known at a time.
    @Test func manyFolders() throws {
        try testFolder.folder("tree")
        let tree = try Folder(opening: testFolder["tree"])
        for number in 0..<9000 { try tree.createFolder("\(number)", permissions: 0o700) }
        var deep = try tree.openFolder("0")
        for _ in 0..<2000 { deep = try deep.createFolder("a", permissions: 0o700) }
        try FileSystem.removeTree(testFolder["tree"])
        #expect(try testFolder.names() == [])
    }

    @Test func discardsAnyKindOfEntry() throws {
        try testFolder.folder("tree")
        try testFolder.file("tree/file")
        try testFolder.file("kept")
        try testFolder.link("link", to: "kept")
        let folder = try Folder(opening: testFolder.path)
        for name in ["tree", "link", "absent"] { try folder.discardTree(name) }
        #expect(try testFolder.names() == ["kept"])
        try folder.discardTree("kept")
        #expect(try testFolder.names() == [])
    }

    /// A tree that can't be removed completely is renamed to scratch first.
    @Test(.enabled(if: Mounts.areAllowed, Mounts.reason)) func discardingRemovesTheNameFirst() async throws {
        try testFolder.folder("tree")
        try testFolder.folder("tree/mount")
        try testFolder.file("tree/a")
        try testFolder.file("tree/z")
        let place = testFolder.path.string
        await #expect(processExitsWith: .success) { [place = place as String] in
            let mount = FilePath(place).appending("tree").appending("mount")
            Mounts.tmpfs(at: mount.string, "size=1m")
            let folder = try Folder(opening: FilePath(place))
            #expect(throws: VaultError.self) { try folder.discardTree("tree") }
            #expect(try FileSystem.exists(FilePath(place).appending("tree")) == false)
        }
        let left = try testFolder.names()
        #expect(left.count == 1 && left.allSatisfy { $0.hasPrefix(".assetvault-") }, "\(left)")
        #expect(try Folder(opening: testFolder.path).removeAbandonedScratch() == 1)
        #expect(try testFolder.names() == [])
    }

    @Test(arguments: ["/", ".", "..", "a/..", ""]) func refusesPathsWithoutAName(_ path: String) {
        #expect(failure(naming: FilePath(path)) { try FileSystem.removeTree(FilePath(path)) } == .usage)
    }

    /// Deeper than the limits of descriptors and path lengths.
    @Test func removesDeepTrees() async throws {
        let place = testFolder.path.string
        await #expect(processExitsWith: .success) { [place = place as String] in
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            try unsafe #require(setrlimit(7, &limit) == 0)
            var folder = unsafe open(place, O_DIRECTORY)
            for _ in 0..<3000 {
                try unsafe #require(mkdirat(folder, "deep", 0o700) == 0)
                let next = unsafe openat(folder, "deep", O_DIRECTORY)
                try #require(close(folder) == 0)
                folder = next
            }
            try FileSystem.removeTree(FilePath(place).appending("deep"))
        }
        #expect(try testFolder.names() == [])
    }

    @Test func removesUnwritableFolders() async throws {
        let place = testFolder.path.string
        await #expect(processExitsWith: .success) { [place = place as String] in
            becomeOrdinaryUser(owning: place)
            let parent = try Folder(opening: FilePath(place))
            for mode: UInt16 in [0o000, 0o100, 0o200, 0o400, 0o500] {
                let tree = try parent.createFolder("tree", permissions: 0o700)
                let sub = try tree.createFolder("sub", permissions: 0o700)
                _ = try sub.createFile("file", permissions: 0)
                _ = try sub.createFolder("below", permissions: mode)
                try sub.setPermissions(mode)
                try tree.setPermissions(mode)
                try parent.removeTree("tree")
                #expect(try parent.names() == [])
            }
        }
    }

    @Test func reportsWhatItCannotRemove() async throws {
        let place = testFolder.path.string
        await #expect(processExitsWith: .success) { [place = place as String] in
            becomeOrdinaryUser(owning: place)
            let parent = try Folder(opening: FilePath(place))
            let tree = try parent.createFolder("tree", permissions: 0o700)
            _ = try tree.createFile("file", permissions: 0o600)
            try parent.setPermissions(0o500)
            let path = FilePath(place).appending("tree")
            #expect(failure(naming: path) { try FileSystem.removeTree(path) } == .unwritable)
            try parent.setPermissions(0o700)
        }
    }

    /// Another thread replaces folders by links to a precious one, and moves folders.
    @Test func isSafeFromSwappedLinks() throws {
        try testFolder.folder("precious")
        try testFolder.file("precious/file")
        let path = testFolder.path
        for _ in 0..<Sampling.rounds(60, whole: 200) {
            try FileSystem.createFolders(testFolder["tree/a/b/c/d"], permissions: 0o700)
            let swapping = Thread {
                for name in ["tree/a/b/c", "tree/a/b", "tree/a"] {
                    let old = path.pushing(FilePath(name)).string
                    unsafe rename(old, path.appending("away").string)
                    unsafe symlink(path.appending("precious").string, old)
                    unsafe rename(path.appending("away").string, old + "2")
                }
            }
            swapping.start()
            try? FileSystem.removeTree(testFolder["tree"])
            while !swapping.isFinished { sched_yield() }
            try FileSystem.removeTree(testFolder["tree"])
            try FileSystem.removeTree(testFolder["away"])
            #expect(try testFolder.content("precious/file") == "content")
        }
    }

    /// Another thread moves folders while they are emptied, so that `..` leads elsewhere.
    @Test func stopsWhenFoldersAreMoved() throws {
        let testFolder = try TemporaryFolder(in: "/dev/shm")
        for number in stride(from: 0, to: 40, by: 2) {
            try FileSystem.createFolders(testFolder["precious/\(number)"], permissions: 0o700)
            try testFolder.file("precious/\(number)/file")
        }
        let path = testFolder.path
        for _ in 0..<Sampling.rounds(25, whole: 100) {
            for number in 0..<40 {
                try FileSystem.createFolders(testFolder["tree/\(number)/a/b/c/d"], permissions: 0o700)
            }
            let moving = Thread {
                for number in stride(from: 1, to: 40, by: 2) {
                    let old = path.appending("tree/\(number)").string
                    unsafe rename(old, path.appending("precious/moved").string)
                    unsafe rename(
                        path.appending("precious/moved").string, path.appending("moved-\(number)").string)
                }
            }
            moving.start()
            try? FileSystem.removeTree(testFolder["tree"])
            while !moving.isFinished { sched_yield() }
            try FileSystem.removeTree(testFolder["tree"])
            try FileSystem.removeTree(testFolder["precious/moved"])
            for number in 0..<40 { try FileSystem.removeTree(testFolder["moved-\(number)"]) }
        }
        for number in stride(from: 0, to: 40, by: 2) {
            #expect(try testFolder.content("precious/\(number)/file") == "content")
        }
    }

    @Test(.enabled(if: Mounts.areAllowed, Mounts.reason)) func staysOnItsFileSystem() async throws {
        try testFolder.folder("tree")
        try testFolder.folder("tree/mount")
        let place = testFolder.path.string
        await #expect(processExitsWith: .success) { [place = place as String] in
            let mount = FilePath(place).appending("tree").appending("mount")
            Mounts.tmpfs(at: mount.string, "size=1m")
            _ = try OpenFile(creating: mount.appending("file"), permissions: 0o600)
            #expect(
                failure(naming: mount) { try FileSystem.removeTree(FilePath(place).appending("tree")) } == .io
            )
            #expect(try FileSystem.exists(mount.appending("file")))
        }
    }
}
