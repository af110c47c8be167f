import StrictJSON
import Testing

/// Compression levels of packs.
struct CompressionTests {
    let samplePack: SamplePack
    private var prose: String { samplePack.folder["prose"] }

    init() throws {
        samplePack = try SamplePack()
        // Text of words in no order: a compressor that looks harder finds more. In one piece: where others are cut depends
        // on the content key.
        let words = (0..<600).map { String($0 * $0 * 7919, radix: 36) }
        let noise = SamplePack.noise(6_000, seed: 4)
        let prose = stride(from: 0, to: noise.count, by: 2)
            .map { words[(Int(noise[$0]) << 8 | Int(noise[$0 + 1])) % 600] }.joined(separator: " ")
        try samplePack.folder.write("prose/text", prose)
    }

    private func seal(_ compression: String?, _ options: String...) async throws -> Int {
        let name = "pack-\(compression ?? "unsaid")"
        let effort = compression.map { ["--compression", $0] } ?? []
        try await Command.run(
            ["seal", prose, "-o", samplePack.folder[name], "--id", "level"] + effort + samplePack.keys
                + options
        ).succeeded()
        return try samplePack.folder.bytes(name).count
    }

    /// Catalogs hold digests, which shrink by a few bytes more or less.
    private func isAsLong(_ one: Int, _ other: Int) -> Bool { abs(one - other) <= 16 }

    @Test func moreEffortMakesSmallerPacksThatOpenTheSame() async throws {
        var sizes: [Int] = []
        for compression in ["none", "fast", "default", "max"] {
            sizes.append(try await seal(compression))
            let opened = samplePack.folder["opened-\(compression)"]
            try await samplePack.open(samplePack.folder["pack-\(compression)"], into: opened).succeeded()
            try await expectSameTree(prose, opened)
        }
        #expect(sizes == sizes.sorted(by: >) && Set(sizes).count == 4, "\(sizes)")
        let content = try samplePack.folder.bytes("prose/text").count
        #expect(sizes[0] > content && sizes[1] < content * 3 / 4, "\(sizes) of \(content)")
        let unsaid = try await seal(nil)
        #expect(isAsLong(unsaid, sizes[2]) && sizes[1] - sizes[2] > 100, "\(unsaid), \(sizes)")
    }

    /// Another compression must not cause downloads.
    @Test func unchangedPiecesAreReused() async throws {
        _ = try await seal("fast")
        let previous = samplePack.folder["pack-fast"]
        _ = try await seal("max", "--previous", previous)
        #expect(try samplePack.folder.bytes("pack-max") == samplePack.folder.bytes("pack-fast"))
    }

    @Test func anUnknownCompressionIsRefused() async throws {
        try await samplePack.unchanged {
            try await Command.run(
                ["seal", prose, "-o", samplePack.pack, "--compression", "best"] + samplePack.keys
            ).failed(64, naming: "best", "--compression")
        }
    }

    /// A setting in `vault.json` applies to its pack, an option to all packs.
    @Test func publishUsesTheSettings() async throws {
        let testSite = try await TestSite()
        func length(_ id: String, _ compression: String, _ arguments: String...) async throws -> Int64 {
            try testSite.folder.write(
                "vault/vault.json",
                #"{"format": 1, "packs": {"\#(id)": {"source": "\#(prose)", "compression": "\#(compression)"}}}"#
            )
            let report = try await Command.run(["publish", testSite.vault, "--json"] + arguments).succeeded()
            let packs = try #require(report.json()["packs"]?.elements)
            return try #require(packs.first { $0["id"]?.text == id }?["length"]?.number)
        }
        let stored = try await length("a", "none")
        let compressed = try await length("b", "default")
        #expect(stored > compressed)
        let overruled = try await length("c", "default", "--compression", "none")
        #expect(isAsLong(Int(overruled), Int(stored)), "\(overruled), \(stored), \(compressed)")
        try await testSite.fetch().succeeded()
        try await expectSameTree(prose, testSite.path(of: "c"))

        try testSite.folder.write(
            "vault/vault.json",
            #"{"format": 1, "packs": {"level": {"source": "x", "compression": "best"}}}"#)
        try await Command.run("publish", testSite.vault).failed(
            64, naming: "best", "none, fast, default, max")
    }
}
