import Foundation
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

@Suite struct FollowedLinkTests {
    private let folder: TemporaryFolder

    init() throws {
        let folder = try TemporaryFolder()
        try folder.write("a/file", [1, 2, 3], permissions: 0o755)
        self.folder = folder
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path.appending(name).string, withDestinationPath: target)
    }

    private func entries() throws -> [String] {
        try SourceFolder(scanning: folder.path, followLinks: true).entries.map {
            "\($0.path) \($0.kind) \($0.size)"
        }
    }

    private func problem() -> String? {
        let error = #expect(throws: VaultError.self) { try entries() }
        #expect(error?.category == .corrupt)
        return error?.problem
    }

    @Test func linksToFilesAndFolders() throws {
        let outside = try TemporaryFolder()
        try outside.write("there", [9, 9])
        try link("b", to: "a")
        try link("c", to: "a/file")
        try link("d", to: outside.path.string)
        #expect(
            try entries() == [
                "a/file file(executable: true) 3", "b/file file(executable: true) 3",
                "c file(executable: true) 3", "d/there file(executable: false) 2",
            ])
        let source = try SourceFolder(scanning: folder.path, followLinks: true)
        var files = try SourceReader(of: source)
        let bytes = try source.entries.map { try files.open($0).readAll(limit: 10) }
        #expect(bytes == [[1, 2, 3], [1, 2, 3], [1, 2, 3], [9, 9]])
    }

    @Test(arguments: [".", "..", "../a", "loop"])
    func cyclesAreRefused(target: String) throws {
        try link("a/loop", to: target)
        #expect(problem() != nil)
    }

    @Test func longCyclesAreRefused() throws {
        try folder.write("b/file", [])
        try link("a/to b", to: "../b")
        try link("b/to a", to: "../a")
        #expect(problem()?.contains("a folder that contains it") == true)
    }

    @Test func brokenLinksAreRefused() throws {
        try link("broken", to: "nothing")
        #expect(problem()?.contains("broken symbolic link") == true)
    }

    @Test func linksToDevicesAreRefused() throws {
        try link("null", to: "/dev/null")
        #expect(problem()?.contains("is a device") == true)
    }
}
