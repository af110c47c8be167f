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

    @Test func cachedFilesAreWholeToo() throws {
        let path = workplace["f"]
        try CachedFile.write(one.span, to: path, permissions: 0o644)
        #expect(try workplace.content("f") == "one")
        try CachedFile.write(nothing.span, to: path, permissions: 0o600)
        #expect(try workplace.content("f") == "")
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
