import Glibc
import SealedPack
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

/// A tree that was opened from a pack and changed afterwards.
struct TreeComparisonTests {
    private let place: PackPlace
    private let pack: OpenPack
    private let tree: FilePath

    init() async throws {
        let key = try await TestKey().contentKey()
        var source = try Source.small()
        source.files["deep/er/file"] = [1]
        source.emptyFolders.append("deep/er/empty")
        place = try PackPlace()
        let sealed = try await seal(source, key: key)
        pack = try place.open(sealed.bytes, as: sealed.manifest.json, with: key)
        tree = try place.folder.makeFolder("tree")
        try await pack.extract(into: Folder(opening: tree), .writable)
    }

    private func isSame() async -> Bool {
        do throws(VaultError) {
            try await OpenedTree(tree, of: pack).requireSound()
            return true
        } catch {
            #expect([.corrupt, .missing].contains(error.category), "\(error)")
            return false
        }
    }

    @Test func equalTreePasses() async { #expect(await isSame()) }

    enum Change: CaseIterable {
        case byte, longer, gone, oneMore, folderMore, folderGone, link, folderByALink, folderAsAFile
        case writable, folderWritable, executable
    }

    @Test(arguments: Change.allCases) func changedTreeIsFound(change: Change) async throws {
        let file = tree.appending("levels/1")
        let root = try Folder(opening: tree)
        switch change {
        case .byte: try OpenFile(updating: file).write([1].span, at: 0)
        case .longer:
            let changed = try OpenFile(updating: file)
            try changed.write([1].span, at: changed.status().size)
        case .gone: try FileSystem.removeFile(file)
        case .oneMore: _ = try OpenFile(creating: tree.appending("levels/x"), permissions: 0o644)
        case .folderMore: try root.createFolder("more", permissions: 0o755)
        case .folderGone: try FileSystem.removeTree(tree.appending("deep/er/empty"))
        case .link:
            try FileSystem.move(file, to: place.folder.path.appending("1"), replacing: false)
            try Folder(opening: tree.appending("levels"))
                .symlink("1", target: place.folder.path.appending("1"))
        case .folderByALink:
            try FileSystem.move(
                tree.appending("deep"), to: place.folder.path.appending("deep"), replacing: false)
            try root.symlink("deep", target: place.folder.path.appending("deep"))
        case .folderAsAFile:
            try FileSystem.removeTree(tree.appending("deep/er/empty"))
            _ = try OpenFile(creating: tree.appending("deep/er/empty"), permissions: 0o644)
        case .writable: #expect(unsafe chmod(file.string, 0o666) == 0)
        case .folderWritable: #expect(unsafe chmod(tree.appending("deep/er").string, 0o777) == 0)
        case .executable: #expect(unsafe chmod(file.string, 0o755) == 0)
        }
        #expect(await !isSame())
    }
}
