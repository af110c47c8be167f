import Testing

/// Sources with special files.
struct SourceRefusalTests {
    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    @Test func aDevice() async throws {
        try sample.write("level/maps/device", [])
        let mount = "mount --bind /dev/null '\(sample.level)/maps/device'"
        try await sample.unchanged {
            try await sample.run("seal $LEVEL -o $PACK $KEYS", through: Sandbox.mounting(mount)).failed(
                65, naming: "maps/device")
        }
    }
}
