import SystemPackage
import Testing
import VaultFileSystem

/// Unreadable records of one pack do not stop the others.
struct UnreadableRecordTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private static let bad = "one"

    init() async throws {
        testSite = try await TestSite(publishing: [Self.bad, "two", "three"])
        folder = testSite.folder
        try await testSite.fetch().succeeded()
        // Somebody died here: all packs are looked at.
        try await Tool.run("touch", folder["store/permanent/@work/.assetvault-0-0.tmp"])
    }

    enum Place: CaseIterable { case record, manifest }

    /// Every attempt to read it fails.
    private func unreadable(_ place: Place) throws -> [String] {
        let home = "permanent/\(Self.bad)"
        let path =
            switch place {
            case .record: "\(testSite.store)/permanent/@state/\(Self.bad)/@record.json"
            case .manifest:
                "\(testSite.store)/\(home)/"
                    + (try #require(testSite.files(in: home).first { $0.hasSuffix(".json") }))
            }
        return ["strace", "-f", "-qq", "-o", "/dev/null", "-P", path, "-e", "inject=read,pread64:error=EIO"]
    }

    @Test(arguments: Place.allCases, [true, false]) func otherPacksAreFetched(place: Place, isNamed: Bool)
        async throws
    {
        let marks = try testSite.files(in: "permanent/@work")
        #expect(!marks.isEmpty)
        try folder.write("two/file", "version 2")
        try await testSite.publish()
        let wrapper = try unreadable(place)
        // The record has the content of a manifest, which is written again.
        if isNamed || place == .manifest {
            try await testSite.fetch(nil, "two", through: wrapper).succeeded()
        } else {
            let result = try await testSite.fetch(through: wrapper)
            #expect(result.exitCode == 74 && result.errorText.contains("can't read"), "\(result.errorText)")
        }
        #expect(try await testSite.tree(of: "two") == Tree(folder["two"]))
        try await Command.run("remove", "three", "--store", testSite.store, through: wrapper).succeeded()
        let status = try await Command.run("status", "--store", testSite.store, through: wrapper).succeeded()
        #expect(status.text.contains("loaded  two  version 2") && status.text.contains("absent  three"))
        if place == .record {
            #expect(status.text.contains("failed  \(Self.bad)"), "\(status.text)")
            // Unreadable packs are checked again.
            #expect(try testSite.files(in: "permanent/@work") == marks)
        }

        try await testSite.fetch().succeeded()
        let after = try await testSite.status()
        #expect(after[Self.bad]?.state == "loaded" && after["two"]?.version == 2)
        #expect(try testSite.files(in: "permanent/@work") == [])
    }

    @Test(arguments: Place.allCases) func theDamagedPackIsRemoved(place: Place) async throws {
        let command = ["remove", Self.bad, "--store", testSite.store]
        try await Command.run(command, through: unreadable(place)).succeeded()
        #expect(try await testSite.status()[Self.bad]?.state == "absent")
        #expect(try testSite.files(in: "permanent/\(Self.bad)") == [])
    }

    @Test func anUnfinishedTree() async throws {
        let scratch = "store/permanent/one/.assetvault-0-1.tmp/folder"
        try folder.write(scratch + "/file", "begun")
        let wrapper = [
            "strace", "-f", "-qq", "-o", "/dev/null", "-P", folder[scratch], "-P", "folder",
            "-e", "inject=openat:error=EIO",
        ]
        try await testSite.fetch(nil, "two", through: wrapper).succeeded()
        try await Command.run(["unlock", "--store", testSite.store] + testSite.keys, through: wrapper)
            .succeeded()
        for id in ["one", "three"] {
            try await Command.run("remove", id, "--store", testSite.store, through: wrapper).succeeded()
        }
        try await testSite.fetch().succeeded()
        #expect(try !folder.exists(scratch))
        #expect(try testSite.files(in: "permanent/@work") == [])
    }

    @Test func anUnfinishedRemoval() async throws {
        let home = folder["store/permanent/one"]
        let version = try #require(
            try Folder(opening: FilePath(home)).readLink("current")?.string)
        let wrapper = [
            "strace", "-f", "-qq", "-o", "/dev/null", "-P", version, "-P", "\(home)/\(version)",
            "-e", "inject=openat:error=EIO",
        ]
        let removal = ["remove", "one", "three", "--store", testSite.store]
        let result = try await Command.run(removal, through: wrapper)
        #expect(result.exitCode == 74 && result.errorText.contains("removed  three"), "\(result.errorText)")
        for id in ["one", "two"] { try folder.write("\(id)/file", "version 2") }
        try await testSite.publish()
        try await testSite.fetch(through: wrapper).succeeded()
        #expect(try await testSite.tree(of: "two") == Tree(folder["two"]))
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status()["one"]?.state == "absent")
        #expect(try testSite.files(in: "permanent/one") == [])
    }

    /// Entries that don't belong in a store.
    @Test(arguments: ["manifest", "home"]) func aFolderOrFileOfTheWrongKind(kind: String) async throws {
        let home = folder["store/permanent/one"]
        if kind == "home" {
            try await Tool.run("rm", "-r", home)
            try folder.write("store/permanent/one", "in the way")
        } else {
            let name = try #require(testSite.files(in: "permanent/one").first { $0.hasSuffix(".json") })
            try await Tool.run("rm", "\(home)/\(name)")
            try folder.makeFolder("store/permanent/one/\(name)")
        }
        try folder.write("two/file", "version 2")
        try await testSite.publish()
        let result = try await testSite.fetch()
        #expect(result.exitCode != 0)
        #expect(try await testSite.tree(of: "two") == Tree(folder["two"]))
        let status = try await testSite.status()
        #expect(status["two"]?.version == 2)
        // The record still knows what the manifest said.
        #expect(status["one"]?.state == (kind == "home" ? "failed" : "loaded"))
    }

    /// A folder that is not the store's, such as the system's on a separate file system.
    @Test func anUnreadableForeignFolder() async throws {
        try folder.makeFolder("store/permanent/lost+found")
        let wrapper = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", "lost+found"]
        let failing = ["-P", folder["store/permanent/lost+found"], "-e", "inject=openat:error=EACCES"]
        try await testSite.fetch(through: wrapper + failing).succeeded()
        #expect(try testSite.files(in: "permanent/@work") == [])
    }
}
