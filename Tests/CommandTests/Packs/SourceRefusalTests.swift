import Testing

/// Sources with special files.
struct SourceRefusalTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    @Test func aDevice() async throws {
        try samplePack.folder.write("level/maps/device", [])
        let mount = "mount --bind /dev/null '\(samplePack.level)/maps/device'"
        try await samplePack.unchanged {
            try await Command.run(
                ["seal", samplePack.level, "-o", samplePack.pack] + samplePack.keys,
                through: Sandbox.mounting(mount)
            )
            .failed(65, naming: "maps/device")
        }
    }
}
