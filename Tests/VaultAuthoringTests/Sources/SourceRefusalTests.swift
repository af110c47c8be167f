import Foundation
import Glibc
import SealedPack
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase

@Suite struct SourceRefusalTests {
    private let folder: TemporaryFolder

    init() throws {
        let folder = try TemporaryFolder()
        try folder.write("a/file", [1])
        self.folder = folder
    }

    private func expectRefusal(
        of entry: String, _ problem: String, followLinks: Bool = false,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: VaultError.self, sourceLocation: location) {
            _ = try SourceFolder(scanning: folder.path, followLinks: followLinks)
        }
        #expect(error?.category == .corrupt, sourceLocation: location)
        #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")", sourceLocation: location)
        #expect(error?.place == "\(folder.path): entry '\(entry)'", sourceLocation: location)
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path.appending(name).string, withDestinationPath: target)
    }

    @Test func links() throws {
        try link("a/link", to: "file")
        expectRefusal(of: "a/link", "is a symbolic link")
    }

    @Test func linksToFolders() throws {
        try link("b", to: "a")
        expectRefusal(of: "b", "is a symbolic link")
    }

    @Test func fifos() throws {
        let made = unsafe mkfifo(folder.path.appending("a/pipe").string, 0o600)
        #expect(made == 0)
        expectRefusal(of: "a/pipe", "is a FIFO")
    }

    @Test func sockets() throws {
        let path = folder.path.appending("s").string
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let bound = unsafe withUnsafeBytes(of: address) {
            unsafe bind(
                descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self),
                socklen_t(MemoryLayout<sockaddr_un>.size))
        }
        #expect(bound == 0)
        expectRefusal(of: "s", "is a socket")
    }

    @Test(arguments: [
        ("a\\b", "a\\b", "backslash"), ("a\nb", "a\\nb", "control"), ("\u{85}", "\\u{0085}", "control"),
    ])
    func badNamesAreRefused(name: String, shown: String, problem: String) throws {
        try folder.write(name, [])
        expectRefusal(of: shown, problem)
    }

    @Test func namesThatAreNotUTF8() throws {
        let name = Array(folder.path.string.utf8) + Array("/caf".utf8) + [0xE9, 0]
        close(unsafe open(name.map { CChar(bitPattern: $0) }, O_CREAT | O_WRONLY, 0o600))
        expectRefusal(of: "caf\u{FFFD}", "not UTF-8")
    }

    @Test func depth() throws {
        let deep = Array(repeating: "d", count: 63).joined(separator: "/")
        try folder.write(deep + "/file", [])
        #expect(try SourceFolder(scanning: folder.path).entries.count == 2)
        try folder.write(deep + "/e/file", [])
        expectRefusal(of: deep + "/e/file", "64 levels")
    }

    @Test func collisions() throws {
        try folder.write("a/FILE", [])
        expectRefusal(of: "a/file", "differs from 'a/FILE' only by letter case")
    }

    @Test func normalisation() throws {
        try folder.write("\u{E9}", [])
        try folder.write("e\u{301}", [])
        expectRefusal(of: "\u{E9}", "only by letter case or Unicode normalisation")
    }

    @Test func aFileAndAFolder() throws {
        try folder.write("A", [])
        expectRefusal(of: "a", "differs from 'A'")
    }

    @Test func anEmptyFolderAndAFile() throws {
        try folder.makeFolder("A/FILE")
        expectRefusal(of: "a/file", "differs from 'A/FILE'")
    }

    @Test func foldersMayCollide() throws {
        try folder.write("A/other", [])
        #expect(try SourceFolder(scanning: folder.path).entries.map(\.path.string) == ["A/other", "a/file"])
    }
}
