import Foundation
import Sampling
import SystemPackage
import Testing
import VaultErrors
import VaultFileSystem

struct TreeRemovalTests {
    let workplace: Workplace
    init() throws { workplace = try Workplace() }

    @Test func removesEverythingAndFollowsNothing() throws {
        try workplace.folder("kept")
        try workplace.file("kept/precious")
        try workplace.folder("tree")
        try workplace.folder("tree/sub")
        for number in 0..<500 { try workplace.file("tree/sub/\(number)", "") }
        try workplace.pipe("tree/pipe")
        try workplace.link("tree/out", to: "../kept")
        try workplace.link("tree/sub/file", to: "../../kept/precious")
        try workplace.link("tree/loop", to: "loop")
        try workplace.link("to-kept", to: "kept")
        _ = try Folder(opening: workplace["tree"]).createFile([0xFF, 0x0A], permissions: 0)
        try FileSystem.removeTree(workplace["tree"])
        try FileSystem.removeTree(workplace["tree"])
        try FileSystem.removeTree(workplace["to-kept"])
        try FileSystem.removeTree(workplace["absent/below"])
        #expect(try workplace.names() == ["kept"])
        #expect(try workplace.content("kept/precious") == "content")
        try FileSystem.removeTree(workplace["kept/precious"])
        #expect(try FileSystem.exists(workplace["kept/precious"]) == false)
    }

    @Test func discardsWhateverStandsThere() throws {
        try workplace.folder("tree")
        try workplace.file("tree/file")
        try workplace.file("kept")
        try workplace.link("link", to: "kept")
        let folder = try Folder(opening: workplace.path)
        for name in ["tree", "link", "absent"] { try folder.discardTree(name) }
        #expect(try workplace.names() == ["kept"])
        try folder.discardTree("kept")
        #expect(try workplace.names() == [])
    }

    /// What can't be removed as a whole has lost its name before the first part of it goes, and is scratch.
    @Test(.enabled(if: Mounts.areAllowed, Mounts.reason)) func discardsTheNameFirst() async throws {
        try workplace.folder("tree")
        try workplace.folder("tree/mount")
        try workplace.file("tree/a")
        try workplace.file("tree/z")
        let place = workplace.path.string
        await #expect(processExitsWith: .success) { [place = place as String] in
            let mount = FilePath(place).appending("tree").appending("mount")
            Mounts.tmpfs(at: mount.string, "size=1m")
            let folder = try Folder(opening: FilePath(place))
            #expect(throws: VaultError.self) { try folder.discardTree("tree") }
            #expect(try FileSystem.exists(FilePath(place).appending("tree")) == false)
        }
        let left = try workplace.names()
        #expect(left.count == 1 && left.allSatisfy { $0.hasPrefix(".assetvault-") }, "\(left)")
        #expect(try Folder(opening: workplace.path).removeAbandonedScratch() == 1)
        #expect(try workplace.names() == [])
    }

    @Test(arguments: ["/", ".", "..", "a/..", ""]) func needsAName(_ path: String) {
        #expect(failure(naming: FilePath(path)) { try FileSystem.removeTree(FilePath(path)) } == .usage)
    }

    /// Deeper than there are descriptors, and than a path may be long.
    @Test func removesDeepTrees() async throws {
        let place = workplace.path.string
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
        #expect(try workplace.names() == [])
    }

    @Test func removesWhatItsOwnerMayNotWrite() async throws {
        let place = workplace.path.string
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

    @Test func saysWhatItMayNotRemove() async throws {
        let place = workplace.path.string
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

    /// Another thread swaps folders for links to a precious one, and moves folders about.
    @Test func isSafeFromRaces() throws {
        try workplace.folder("precious")
        try workplace.file("precious/file")
        let path = workplace.path
        for _ in 0..<Sampling.rounds(60, whole: 200) {
            try FileSystem.createFolders(workplace["tree/a/b/c/d"], permissions: 0o700)
            let swapping = Thread {
                for name in ["tree/a/b/c", "tree/a/b", "tree/a"] {
                    let old = path.pushing(FilePath(name)).string
                    unsafe rename(old, path.appending("away").string)
                    unsafe symlink(path.appending("precious").string, old)
                    unsafe rename(path.appending("away").string, old + "2")
                }
            }
            swapping.start()
            try? FileSystem.removeTree(workplace["tree"])
            while !swapping.isFinished { sched_yield() }
            try FileSystem.removeTree(workplace["tree"])
            try FileSystem.removeTree(workplace["away"])
            #expect(try workplace.content("precious/file") == "content")
        }
    }

    /// Another thread moves folders, while they are emptied, to where the way up leads somewhere else.
    @Test func losesItsWayNowhere() throws {
        let workplace = try Workplace(in: "/dev/shm")
        for number in stride(from: 0, to: 40, by: 2) {
            try FileSystem.createFolders(workplace["precious/\(number)"], permissions: 0o700)
            try workplace.file("precious/\(number)/file")
        }
        let path = workplace.path
        for _ in 0..<Sampling.rounds(25, whole: 100) {
            for number in 0..<40 {
                try FileSystem.createFolders(workplace["tree/\(number)/a/b/c/d"], permissions: 0o700)
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
            try? FileSystem.removeTree(workplace["tree"])
            while !moving.isFinished { sched_yield() }
            try FileSystem.removeTree(workplace["tree"])
            try FileSystem.removeTree(workplace["precious/moved"])
            for number in 0..<40 { try FileSystem.removeTree(workplace["moved-\(number)"]) }
        }
        for number in stride(from: 0, to: 40, by: 2) {
            #expect(try workplace.content("precious/\(number)/file") == "content")
        }
    }

    @Test(.enabled(if: Mounts.areAllowed, Mounts.reason)) func staysOnItsFileSystem() async throws {
        try workplace.folder("tree")
        try workplace.folder("tree/mount")
        let place = workplace.path.string
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
