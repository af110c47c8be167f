import Testing

@testable import VaultCommand

/// Sizes in bytes, as options read and print them.
struct ByteCountTests {
    @Test(arguments: [
        ("0", 0), ("500", 500), ("10MB", 10_000_000), ("64MiB", 64 << 20), ("512KiB", 512 << 10),
        ("512 kib", 512 << 10), ("1.5GiB", 3 << 29),
    ])
    func readsSizes(text: String, bytes: UInt64) {
        #expect(ByteCount(argument: text)?.bytes == bytes)
    }

    @Test(arguments: ["", "x", "-1", "1.", ".5", "10XB", "MiB", "99999999999TiB", "1e3"])
    func refusesInvalidSizes(text: String) {
        #expect(ByteCount(argument: text) == nil)
    }

    @Test(arguments: [
        (0, "0"), (1023, "1023"), (1024, "1KiB"), (32 << 20, "32MiB"), (10_000_000, "10000000"),
        (3 << 29, "1536MiB"), (5 << 50, "5120TiB"),
    ])
    func printsSizes(bytes: UInt64, text: String) {
        let count = ByteCount(bytes: bytes)
        #expect(count.description == text && ByteCount(argument: text) == count)
    }

    /// A number in another unit must not be read as bytes.
    @Test(arguments: ["64", "0", "65535", "512KiB", "1MiB", "32MB", "MiB"]) func tooLittle(text: String)
        async throws
    {
        try await Command.run("downloader u --store s --trust r --request periodic --memory \(text)").failed(
            64, naming: "--memory")
    }

    @Test(arguments: ["64MiB", "32MiB", "34MB", "67108864"]) func limits(text: String) async throws {
        let world = try await World("level")
        try await world.run("downloader $SITE $STORE $TRUST --request periodic --memory \(text)").succeeded()
        #expect(try await world.status()["level"]?.state == "toBeTransferred")
    }
}
