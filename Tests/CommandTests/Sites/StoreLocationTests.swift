import SystemPackage
import Testing
import VaultFileSystem

/// Storage areas in other places, on other file systems, on full and read-only ones.
struct StoreLocationTests {
    let world: World

    init() async throws { world = try await World(level: "version 1") }

    /// Every area may be elsewhere; `tmpfs` is another file system, so renames fail.
    @Test(arguments: [
        ["ephemeral"], ["shared"], ["permanent"], ["ephemeral", "permanent"],
        ["ephemeral", "shared", "permanent"],
    ])
    func areasOnOtherFileSystems(areas: [String]) async throws {
        let other = try TemporaryFolder(in: "/dev/shm")
        #expect(try !FileSystem.sameFileSystem(other.path, world.path))
        let places = areas.flatMap { ["--\($0)", other[$0]] }
        let store = ["--store", world.store] + places
        try await world.run("fetch $SITE $TRUST \(store)").succeeded()
        try await world.run("fetch $SITE $KEYS \(store)").succeeded()
        let path = try await world.run("path level \(store)").succeeded().text
        let permanent = areas.contains("permanent") ? other["permanent"] : "\(world.store)/permanent"
        #expect(path == "\(permanent)/level/current\n")
        #expect(try Tree("\(permanent)/level/current") == Tree(world["level"]))
        // The same as a sealed pack, which is moved from area to area.
        try await world.run("fetch $SITE --sealed $KEYS \(store)").succeeded()
        let status = try await world.run("status \(store)").succeeded()
        #expect(status.text == "loaded  level  version 1 sealed\n")
        // Nothing is in unexpected places.
        for area in ["ephemeral", "shared", "permanent"] {
            #expect(try world.exists("store/\(area)") != areas.contains(area), "\(area)")
            #expect(try other.exists(area) == areas.contains(area), "\(area)")
        }
    }

    /// An area whose file system has no holes: a pack that rests on the live version becomes a whole file there.
    @Test(arguments: ["shared", "permanent"]) func withoutHoles(area: String) async throws {
        let other = try TemporaryFolder(in: "/dev/shm")
        let store = ["--store", world.store, "--\(area)", other[area]]
        let wrapper =
            try await PreloadedLibrary.through(PreloadedLibrary.withoutHoles, in: world)
            + ["WITHOUT_HOLES=\(other[area])"]
        for number in 0..<10 {
            try world.write("level/\(number)", Bytes.random(90_000, seed: UInt64(number)))
        }
        try await world.publish()
        try await world.run("fetch $SITE $TRUST --sealed $KEYS \(store)", through: wrapper).succeeded()
        try world.write("level/3", Bytes.random(90_000, seed: 33))
        try await world.publish()
        try await world.run("fetch $SITE $TRUST \(store)", through: wrapper).succeeded()
        let size = try world.publishedBytes(of: "level").count
        let expected = area == "shared" ? size..<size + 300_000 : 0..<400_000
        let shared = area == "shared" ? other["shared"] : "\(world.store)/shared"
        let taken = try await Tool.run("du", "-B1", "-s", shared).succeeded().text
        #expect(expected.contains(Int(taken.split(separator: "\t")[0]) ?? 0), "\(taken)")
        try await world.run("unlock $KEYS \(store)", through: wrapper).succeeded()
        let status = try await world.run("status \(store)").succeeded()
        #expect(status.text == "loaded  level  version 3 sealed\n")
        let path = try await world.run("path level \(store)").succeeded().text.dropLast()
        try await world.run("open \(path) -o $WORK/opened $KEYS").succeeded()
        #expect(try Tree(world["opened"]) == Tree(world["level"]))
    }

    /// On a disk that fills up, a fetch of version 2 fails and version 1 stays in use.
    ///
    /// - Parameter state: what `status` then says of the pack.
    private func runsOut(
        of disk: String, at area: String, withKeys: Bool = true, leaving state: String = "failed",
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        try world.makeFolder("disk")
        let options = "--store '\(world.store)' --\(area) '\(world["disk/area"])'"
        let keys = world.keys.joined(separator: " ")
        let command = try Command.path.string
        // Version 1 goes to the small disk first, and is looked at last, while the disk is there.
        let wrapper = Sandbox.mounting(
            """
            { mount -t tmpfs -o \(disk) none '\(world["disk"])' &&
            '\(command)' fetch '\(world["site-1"])' --trust '\(world.root)' \(options) \(keys); }
            """,
            after: """
                { ls -A "$('\(command)' path level \(options))/" && cat "$('\(command)' path level \(options))/file" &&
                '\(command)' status \(options) && find '\(world["disk"])' -name '.assetvault-*'; }
                """)
        try await world.copy("vault/site", to: "site-1")
        try world.write("level/file", "version 2")
        for number in 0..<200 {
            try world.write("level/\(number)", Bytes.random(50_000, seed: UInt64(number)))
        }
        try await world.publish()
        let fetch: Words = "fetch $SITE $STORE --\(area) $WORK/disk/area"
        let result = try await world.run(withKeys ? "\(fetch) $KEYS" : fetch, through: wrapper)
        #expect(result.exitCode == 71, "\(result.errorText)", sourceLocation: location)
        #expect(
            result.errorText.contains("full; free some space") || result.errorText.contains("disk is full"),
            "\(result.errorText)", sourceLocation: location)
        #expect(
            result.text.hasPrefix("file\nversion 1\(state)  level  version 1 opened"), "\(result.text)",
            sourceLocation: location)
        #expect(!result.text.contains(".assetvault-"), "\(result.text)", sourceLocation: location)
    }

    /// Free space is checked first, where the pack goes: it is opened into permanent storage at once, if its key is here.
    @Test(arguments: ["permanent", "ephemeral"]) func aSmallDisk(area: String) async throws {
        try await runsOut(of: "size=20m", at: area, withKeys: area == "permanent")
    }

    /// Space may be used up later: here inodes run out, not bytes. What has arrived stays, so that there is no room to note the failure.
    @Test func aDiskThatFillsUpDuringTheFetch() async throws {
        try await runsOut(of: "size=100m,nr_inodes=60", at: "permanent", leaving: "downloading")
    }

    @Test func aReadOnlyStore() async throws {
        try await world.fetch().succeeded()
        try await world.publish(level: "version 2")
        let before = try Tree(world.store)
        let result = try await world.fetch(through: Sandbox.readOnly(world.store))
        #expect([73, 74].contains(result.exitCode), "\(result.exitCode) \(result.errorText)")
        #expect(try Tree(world.store) == before)
        try world.write("file", "mine")
        try await world.fetch(into: world["file"]).failed(73, naming: world["file"])
    }
}
