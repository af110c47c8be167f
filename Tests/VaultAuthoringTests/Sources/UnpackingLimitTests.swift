import Foundation
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

/// The unpacked size is limited.
@Suite struct UnpackingLimitTests {
    private let workspace: TemporaryFolder

    init() throws { workspace = try TemporaryFolder() }

    private func unpack(_ archive: [UInt8], _ limit: UnpackingLimit = .standard) throws -> SourceFolder {
        let name = UUID().uuidString
        let file = try workspace.write("\(name).tar", archive)
        return try ArchiveUnpacking.unpack(file, into: try workspace.makeFolder(name), limit: limit)
    }

    private func expectRefusal(_ problem: String, _ body: () throws -> Void) {
        let error = #expect(throws: VaultError.self) { try body() }
        #expect(error?.category == .limit)
        #expect(error?.problem.contains(problem) == true, "\(error?.description ?? "")")
        #expect(error?.hint == .unpackingLimit)
    }

    /// A file with only a hole (GNU tar's sparse format 1.0).
    private func sparse(_ size: Int) -> [UInt8] {
        var tar = HandmadeTar()
        tar.addAttributes([
            ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "hole"),
            ("GNU.sparse.realsize", "\(size)"),
        ])
        let map = Array("0\n".utf8)
        tar.add("hole", map + [UInt8](repeating: 0, count: 512 - map.count))
        return tar.finished
    }

    @Test func totalSizeIsLimited() throws {
        var tar = HandmadeTar()
        tar.add("one", [UInt8](repeating: 1, count: 600))
        tar.add("two", [UInt8](repeating: 2, count: 400))
        let limit = UnpackingLimit(total: 1_000)
        #expect(try unpack(tar.finished, limit).entries.count == 2)
        tar.add("more", [3])
        expectRefusal("more than 1000 bytes") { _ = try unpack(tar.finished, limit) }
    }

    /// A few kilobytes that declare 40 GiB of holes, which are sealed as zeros.
    @Test func holesAreCounted() throws {
        expectRefusal("times its own length") { _ = try unpack(sparse(40 << 30)) }
        expectRefusal("times its own length") { _ = try unpack(sparse(256 << 20 + 1)) }
        #expect(try unpack(sparse(256 << 20)).entries.first?.size == 256 << 20)
        // A larger limit allows it.
        #expect(try unpack(sparse(40 << 30), UnpackingLimit(total: 40 << 30)).entries.first?.size == 40 << 30)
        expectRefusal("more than \(40 << 30) bytes") {
            _ = try unpack(sparse(40 << 30 + 1), UnpackingLimit(total: 40 << 30))
        }
    }

    /// The same from a pipe, whose length is unknown.
    @Test func streamsAreLimited() throws {
        let file = try workspace.write("stream.tar", sparse(40 << 30))
        let folder = try workspace.makeFolder("out")
        expectRefusal("times its own length") {
            try ArchiveUnpacking.unpack(stream: try OpenFile(reading: file), into: folder)
        }
    }
}
