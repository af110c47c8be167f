import SystemPackage
import Testing
import VaultFileSystem

/// Unreadable records of one pack do not stop the others.
struct UnreadableRecordTests {
    let world: World
    private static let bad = "one"

    init() async throws {
        world = try await World(Self.bad, "two", "three")
        try await world.fetch().succeeded()
        // Somebody died here: all packs are looked at.
        try await Tool.run("touch", world["store/permanent/@work/.assetvault-0-0.tmp"])
    }

    enum Place: CaseIterable { case record, manifest }

    /// Every attempt to read it fails.
    private func unreadable(_ place: Place) throws -> [String] {
        let manifest = try #require(world.files(in: "permanent/\(Self.bad)").first { $0.hasSuffix(".json") })
        let path =
            place == .record
            ? "permanent/@state/\(Self.bad)/@record.json" : "permanent/\(Self.bad)/\(manifest)"
        return Sandbox.injecting("error=EIO", into: "read,pread64", on: "\(world.store)/\(path)")
    }

    @Test(arguments: Place.allCases, [true, false]) func otherPacksAreFetched(place: Place, isNamed: Bool)
        async throws
    {
        let marks = try world.files(in: "permanent/@work")
        #expect(!marks.isEmpty)
        try world.write("two/file", "version 2")
        try await world.publish()
        let wrapper = try unreadable(place)
        // The record has the content of a manifest, which is written again.
        if isNamed || place == .manifest {
            try await world.fetch("two", through: wrapper).succeeded()
        } else {
            let result = try await world.fetch(through: wrapper)
            #expect(result.exitCode == 74 && result.errorText.contains("can't read"), "\(result.errorText)")
        }
        try await world.expectLoaded("two")
        try await world.run("remove three $STORE", through: wrapper).succeeded()
        let status = try await world.run("status $STORE", through: wrapper).succeeded()
        #expect(status.text.contains("loaded  two  version 2") && status.text.contains("absent  three"))
        if place == .record {
            #expect(status.text.contains("failed  \(Self.bad)"), "\(status.text)")
            // Unreadable packs are checked again.
            #expect(try world.files(in: "permanent/@work") == marks)
        }

        try await world.fetch().succeeded()
        let after = try await world.status()
        #expect(after[Self.bad]?.state == "loaded" && after["two"]?.version == 2)
        #expect(try world.files(in: "permanent/@work") == [])
    }

    @Test(arguments: Place.allCases) func theDamagedPackIsRemoved(place: Place) async throws {
        try await world.run("remove \(Self.bad) $STORE", through: unreadable(place)).succeeded()
        #expect(try await world.status()[Self.bad]?.state == "absent")
        #expect(try world.files(in: "permanent/\(Self.bad)") == [])
    }

    @Test func anUnfinishedTree() async throws {
        let scratch = "store/permanent/one/.assetvault-0-1.tmp/folder"
        try world.write(scratch + "/file", "begun")
        let wrapper = Sandbox.injecting("error=EIO", into: "openat", on: world[scratch], "folder")
        try await world.fetch("two", through: wrapper).succeeded()
        try await world.run("unlock $STORE $KEYS", through: wrapper).succeeded()
        for id in ["one", "three"] {
            try await world.run("remove \(id) $STORE", through: wrapper).succeeded()
        }
        try await world.fetch().succeeded()
        #expect(try !world.exists(scratch))
        #expect(try world.files(in: "permanent/@work") == [])
    }

    @Test func anUnfinishedRemoval() async throws {
        let home = world["store/permanent/one"]
        let version = try #require(try Folder(opening: FilePath(home)).readLink("current")?.string)
        let wrapper = Sandbox.injecting("error=EIO", into: "openat", on: version, "\(home)/\(version)")
        let result = try await world.run("remove one three $STORE", through: wrapper)
        #expect(result.exitCode == 74 && result.errorText.contains("removed  three"), "\(result.errorText)")
        for id in ["one", "two"] { try world.write("\(id)/file", "version 2") }
        try await world.publish()
        try await world.fetch(through: wrapper).succeeded()
        try await world.expectLoaded("two")
        try await world.fetch().succeeded()
        #expect(try await world.status()["one"]?.state == "absent")
        #expect(try world.files(in: "permanent/one") == [])
    }

    /// Entries that don't belong in a store.
    @Test(arguments: ["manifest", "home"]) func aFolderOrFileOfTheWrongKind(kind: String) async throws {
        if kind == "home" {
            try world.remove("store/permanent/one")
            try world.write("store/permanent/one", "in the way")
        } else {
            let name = try #require(world.files(in: "permanent/one").first { $0.hasSuffix(".json") })
            try world.remove("store/permanent/one/\(name)")
            try world.makeFolder("store/permanent/one/\(name)")
        }
        try world.write("two/file", "version 2")
        try await world.publish()
        let result = try await world.fetch()
        #expect(result.exitCode != 0)
        try await world.expectLoaded("two")
        let status = try await world.status()
        #expect(status["two"]?.version == 2)
        // The record still knows what the manifest said.
        #expect(status["one"]?.state == (kind == "home" ? "failed" : "loaded"))
    }

    /// A folder that is not the store's, such as the system's on a separate file system.
    @Test func anUnreadableFolderOfAnotherUser() async throws {
        try world.makeFolder("store/permanent/lost+found")
        let failing = Sandbox.injecting(
            "error=EACCES", into: "openat", on: "lost+found", world["store/permanent/lost+found"])
        try await world.fetch(through: failing).succeeded()
        #expect(try world.files(in: "permanent/@work") == [])
    }
}
