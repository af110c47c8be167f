import SealedPack
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

@Suite struct PaxWriterTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func writer(_ name: String) throws -> PaxWriter {
        try PaxWriter(to: OpenFile(creating: folder.path.appending(name), permissions: 0o600))
    }

    private let longName = String(repeating: "ñ", count: 120) + "/" + String(repeating: "e\u{301}", count: 80)

    private func writeTree(_ name: String) throws {
        var writer = try writer(name)
        try writer.folder(EntryPath("empty/é"))
        try writer.beginFile(EntryPath("run.sh"), size: 3, executable: true)
        try writer.write([1, 2].span)
        try writer.write([3].span)
        try writer.beginFile(EntryPath("zero"), size: 0, executable: false)
        try writer.beginFile(EntryPath(longName), size: 700_000, executable: false)
        let content = noise(700_000)
        try writer.write(content.span.extracting(0..<400_000))
        try writer.write(content.span.extracting(400_000..<700_000))
        try writer.finish()
    }

    @Test func contentIsUnchanged() throws {
        try writeTree("tree.tar")
        let unpacked = try Unpacked(try folder.bytes("tree.tar"))
        #expect(
            unpacked.entries.map { Array($0.utf8) }
                == [
                    "empty/é emptyFolder 0", "run.sh file(executable: true) 3",
                    "zero file(executable: false) 0",
                    "\(longName) file(executable: false) 700000",
                ].map { Array($0.utf8) })
        #expect(try unpacked.folder.bytes("run.sh") == [1, 2, 3])
        #expect(try unpacked.folder.bytes(longName) == noise(700_000))
    }

    @Test func outputIsDeterministic() throws {
        try writeTree("one.tar")
        try writeTree("other.tar")
        let bytes = try folder.bytes("one.tar")
        #expect(try folder.bytes("other.tar") == bytes)
        #expect(bytes.count % 10_240 == 0)
    }

    @Test func emptyArchive() throws {
        let writer = try writer("empty.tar")
        try writer.finish()
        #expect(try Unpacked(try folder.bytes("empty.tar")).entries.isEmpty)
    }

    @Test func abandonedArchiveIsTruncated() throws {
        do {
            var writer = try writer("part.tar")
            try writer.beginFile(EntryPath("a"), size: 300_000, executable: false)
            try writer.write(noise(300_000).span)
        }
        let bytes = try folder.bytes("part.tar")
        #expect(bytes.count < 300_000)
        #expect(throws: VaultError.self) { try Unpacked(bytes) }
    }

    @Test func declaredSizesAreEnforced() throws {
        var writer = try writer("sizes.tar")
        try writer.beginFile(EntryPath("a"), size: 2, executable: false)
        let more = #expect(throws: VaultError.self) { try writer.write([1, 2, 3].span) }
        #expect(more?.category == .corrupt)
        try writer.write([1].span)
        let fewer = #expect(throws: VaultError.self) {
            try writer.beginFile(EntryPath("b"), size: 0, executable: false)
        }
        #expect(fewer?.category == .corrupt)
        #expect(failure(finishing: writer)?.category == .corrupt)
    }

    private func failure(finishing writer: consuming PaxWriter) -> VaultError? {
        do throws(VaultError) {
            try writer.finish()
            return nil
        } catch {
            return error
        }
    }

    @Test func fullDiskIsReported() throws {
        let descriptor = try FileDescriptor.open(FilePath("/dev/full"), .writeOnly)
        var writer = try PaxWriter(to: OpenFile(takingOwnershipOf: descriptor.rawValue, named: "/dev/full"))
        try writer.beginFile(EntryPath("a"), size: 1_000_000, executable: false)
        let error = #expect(throws: VaultError.self) { try writer.write(noise(1_000_000).span) }
        #expect(error?.category == .diskFull)
        #expect(error?.problem.contains("disk full") == true)
    }
}
