import Glibc
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

struct DurableFileTests {
    let testFolder: TemporaryFolder
    init() throws { testFolder = try TemporaryFolder() }
    private let one: [UInt8] = Array("one".utf8)
    private let nothing: [UInt8] = []
    private let refusal = VaultError(.corrupt, "refused", at: "refused", remedy: "none")

    @Test func writesWholeFiles() throws {
        let path = testFolder["f"]
        try DurableFile.write(one.span, to: path, permissions: 0o644, replacing: false)
        #expect(try DurableFile.read(path, limit: 3) == one)
        #expect(
            failure(naming: path) {
                try DurableFile.write(nothing.span, to: path, permissions: 0o644, replacing: false)
            } == .unwritable)
        #expect(try testFolder.content("f") == "one")
        try DurableFile.write(nothing.span, to: path, permissions: 0o600, replacing: true)
        #expect(try DurableFile.read(path, limit: 0) == [])
        #expect(try testFolder.permissions("f") == 0o600)
        #expect(try testFolder.names() == ["f"])
    }

    @Test func cachedFilesAreReplacedWhole() throws {
        let path = testFolder["f"]
        try CachedFile.write(one.span, to: path, permissions: 0o644)
        #expect(try testFolder.content("f") == "one")
        try CachedFile.write(nothing.span, to: path, permissions: 0o600)
        #expect(try testFolder.content("f") == "")
        #expect(try testFolder.permissions("f") == 0o600)
        #expect(try testFolder.names() == ["f"])
    }

    @Test func readingEnforcesTheLimit() throws {
        try testFolder.file("f", "four")
        #expect(try DurableFile.read(testFolder["f"], limit: 4).count == 4)
        #expect(
            failure(naming: testFolder["f"]) { _ = try DurableFile.read(testFolder["f"], limit: 3) }
                == .corrupt
        )
        #expect(
            failure(naming: testFolder["g"]) { _ = try DurableFile.read(testFolder["g"], limit: 3) }
                == .missing
        )
        // Its status reports a size of 0.
        #expect(
            failure(naming: "/proc/cpuinfo") { _ = try DurableFile.read("/proc/cpuinfo", limit: 3) }
                == .corrupt)
    }

    @Test func refusesFoldersAndReplacesLinks() throws {
        try testFolder.folder("folder")
        try testFolder.file("f", "target")
        try testFolder.link("link", to: "f")
        #expect(
            failure(naming: testFolder["folder"]) {
                try DurableFile.write(one.span, to: testFolder["folder"], permissions: 0o644, replacing: true)
            } == .unwritable)
        try DurableFile.write(one.span, to: testFolder["link"], permissions: 0o644, replacing: true)
        #expect(try testFolder.content("f") == "target")
        #expect(try FileSystem.status(of: testFolder["link"])?.kind == .file)
        for path in [testFolder["absent/f"], testFolder["f/below"]] {
            #expect(
                failure(naming: path) {
                    try DurableFile.write(one.span, to: path, permissions: 0o644, replacing: true)
                } == .unwritable)
        }
        #expect(
            failure(naming: "..") {
                try DurableFile.write(one.span, to: "..", permissions: 0o644, replacing: true)
            } == .usage)
        #expect(try testFolder.names() == ["f", "folder", "link"])
    }

    /// Readers see the old or the new content, never a part or nothing.
    @Test func replacementIsAtomic() async throws {
        let path = testFolder["f"]
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
