import Glibc
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

struct OpenFileTests {
    let testFolder: TemporaryFolder
    init() throws { testFolder = try TemporaryFolder() }

    @Test func writesAndReadsAtOffsets() throws {
        let file = try OpenFile(creating: testFolder["f"], permissions: 0o640)
        try file.write(Array("hello, world".utf8).span, at: 3)
        #expect(try file.status().size == 15)
        #expect(try file.readExactly(5, at: 3) == Array("hello".utf8))
        #expect(try file.readExactly(3, at: 0) == [0, 0, 0])
        var buffer: [UInt8] = [9, 9, 9]
        #expect(try file.read(into: &buffer, upTo: 100, at: 10) == 5)
        #expect(buffer == Array("world".utf8))
        #expect(try file.read(into: &buffer, upTo: 2, at: 3) == 2)
        #expect(buffer == Array("he".utf8))
        #expect(try file.read(into: &buffer, upTo: 4, at: 15) == 0)
        #expect(buffer.isEmpty)
        try file.truncate(to: 4)
        try file.synchronize()
        try file.synchronizeFileSystem()
        #expect(try testFolder.content("f") == "\0\0\0h")
    }

    @Test func readsIntoASpan() throws {
        try testFolder.file("f", "0123456789")
        let file = try OpenFile(reading: testFolder["f"])
        var bytes = [UInt8](repeating: 0, count: 4)
        var span = bytes.mutableSpan
        #expect(try file.read(into: &span, at: 8) == 2)
        #expect(bytes == [0x38, 0x39, 0, 0])
    }

    @Test func readingStopsAtTheEnd() throws {
        let path = try testFolder.file("f", "short")
        let file = try OpenFile(reading: path)
        #expect(failure(naming: path) { _ = try file.readExactly(6, at: 0) } == .corrupt)
        #expect(failure(naming: path) { _ = try file.readExactly(.max, at: 2) } == .corrupt)
        #expect(failure(naming: path) { _ = try file.readExactly(-1, at: 0) } == .corrupt)
        #expect(failure(naming: path) { _ = try file.readExactly(1, at: .max) } == .corrupt)
        #expect(try file.readExactly(0, at: 5) == [])
        var buffer: [UInt8] = []
        #expect(failure(naming: path) { try file.read(into: &buffer, upTo: 1, at: .max) } == .io)
        #expect(try file.readAll(limit: 5) == Array("short".utf8))
        #expect(failure(naming: path) { _ = try file.readAll(limit: 4) } == .corrupt)
        #expect(failure(naming: path) { _ = try file.readAll(limit: -1) } == .corrupt)
    }

    @Test func readsOnlyRegularFiles() throws {
        let file = try testFolder.file("f")
        try testFolder.folder("folder")
        try testFolder.pipe("pipe")
        try testFolder.link("link", to: "f")
        try testFolder.link("loop", to: "loop")
        #expect(try OpenFile(reading: testFolder["link"]).readAll(limit: 99) == Array("content".utf8))
        #expect(
            failure(naming: testFolder["absent"]) { _ = try OpenFile(reading: testFolder["absent"]) }
                == .missing)
        #expect(failure(naming: file) { _ = try OpenFile(reading: testFolder["f/below"]) } == .missing)
        for name in ["folder", "pipe", "loop"] {
            #expect(
                failure(naming: testFolder[name]) { _ = try OpenFile(reading: testFolder[name]) } == .corrupt)
        }
        #expect(failure(naming: "/dev/null") { _ = try OpenFile(reading: "/dev/null") } == .corrupt)
        for name in ["folder", "pipe", "loop", "link"] {
            #expect(
                failure(naming: testFolder[name]) { _ = try OpenFile(updating: testFolder[name]) } == .corrupt
            )
        }
        try OpenFile(updating: file).write([0x43].span, at: 0)
        #expect(try testFolder.content("f") == "Content")
    }

    @Test func creatingRefusesExistingNames() throws {
        try testFolder.file("f")
        try testFolder.link("dangling", to: "elsewhere")
        try testFolder.folder("folder")
        for name in ["f", "dangling", "folder", "absent/f", "f/below", String(repeating: "n", count: 256)] {
            let path = testFolder[name]
            #expect(
                failure(naming: path) { _ = try OpenFile(creating: path, permissions: 0o644) } == .unwritable)
        }
        #expect(try testFolder.content("f") == "content")
        #expect(try testFolder.names() == ["dangling", "f", "folder"])
    }

    @Test func reservesSpace() throws {
        let file = try OpenFile(creating: testFolder["f"], permissions: 0o600)
        try file.allocate(0)
        try file.allocate(123_456)
        #expect(try file.status().size == 123_456)
        #expect(failure(naming: testFolder["f"]) { try file.allocate(.max) } == .io)
    }

    @Test func closesOnlyItsOwnDescriptor() throws {
        let path = try testFolder.file("f")
        let first = try OpenFile(reading: path)
        let number = first.descriptor
        #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
        let copy = try OpenFile(duplicating: number, named: "copy")
        #expect(fcntl(copy.descriptor, F_GETFD) & FD_CLOEXEC != 0)
        _ = consume first
        #expect(try copy.readAll(limit: 99) == Array("content".utf8))
        #expect(failure(naming: "none") { _ = try OpenFile(duplicating: 1 << 20, named: "none") } == .io)
    }
}
