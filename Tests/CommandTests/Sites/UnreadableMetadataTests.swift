import Testing

/// Metadata that can't be read now may be sound: nothing that they list is removed, left out or numbered again.
struct UnreadableMetadataTests {
    let world: World

    /// Three publications of one pack; a host has the first one.
    init() async throws {
        world = try await World()
        for version in 1...3 {
            try world.write("level/file", "version \(version)")
            try await world.publish("--pack level=$WORK/level")
            if version == 1 { try await world.copy("vault/site", to: "host") }
        }
    }

    private func unreadable(_ name: String) -> [String] {
        Sandbox.injecting("error=EIO", into: "read,pread64", on: "\(world.site)/metadata/\(name)")
    }

    @Test(arguments: ["2.snapshot.json", "2.targets.json"])
    func nothingIsPruned(name: String) async throws {
        let before = try Tree(world.site)
        try await world.run("prune $VAULT --keep 1 --grace 0d", through: unreadable(name))
            .failed(74, naming: name)
        #expect(try Tree(world.site) == before)
    }

    @Test func nothingIsLeftOutOfAnUpload() async throws {
        try await world.run("upload $SITE $WORK/host", through: unreadable("2.targets.json"))
            .failed(74, naming: "2.targets.json")
        try await world.run("upload $SITE $WORK/host").succeeded()
        #expect(try world.exists("host/metadata/2.targets.json"))
    }
}
