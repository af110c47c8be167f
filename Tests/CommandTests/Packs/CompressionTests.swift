import StrictJSON
import Testing

/// How hard packs are compressed.
struct CompressionTests {
    let bench: Bench

    init() throws {
        bench = try Bench()
        // Text of words in no order: a compressor that looks harder finds more.
        let words = (0..<600).map { String($0 * $0 * 7919, radix: 36) }
        let noise = Bench.noise(200_000, seed: 4)
        try bench.folder.write(
            "level/prose.txt",
            stride(from: 0, to: noise.count, by: 2)
                .map { words[(Int(noise[$0]) << 8 | Int(noise[$0 + 1])) % 600] }.joined(separator: " "))
    }

    private func seal(_ compression: String?, _ options: String...) async throws -> Int {
        let name = "pack-\(compression ?? "unsaid")"
        let effort = compression.map { ["--compression", $0] } ?? []
        try await Command.run(
            ["seal", bench.level, "-o", bench.folder[name], "--id", "level"] + effort + bench.keys + options
        ).succeeded()
        return try bench.folder.bytes(name).count
    }

    @Test func moreEffortMakesSmallerPacksThatOpenTheSame() async throws {
        var sizes: [Int] = []
        for compression in ["none", "fast", "default", "max"] {
            sizes.append(try await seal(compression))
            let opened = bench.folder["opened-\(compression)"]
            try await bench.open(bench.folder["pack-\(compression)"], into: opened).succeeded()
            try await expectSameTree(bench.level, opened)
        }
        #expect(sizes == sizes.sorted(by: >) && Set(sizes).count == 4, "\(sizes)")
        let content = try bench.folder.bytes("level/prose.txt").count
        #expect(sizes[0] > content && sizes[1] < content / 2 + 250_000, "\(sizes) of \(content)")
        #expect(try await seal(nil) == sizes[2])
    }

    /// Clients download nothing because somebody chose another compression.
    @Test func unchangedPiecesStayAsTheyAre() async throws {
        _ = try await seal("fast")
        let previous = bench.folder["pack-fast"]
        _ = try await seal("max", "--previous", previous)
        #expect(try bench.folder.bytes("pack-max") == bench.folder.bytes("pack-fast"))
    }

    @Test func anUnknownOneIsRefused() async throws {
        try await bench.unchanged {
            try await Command.run(
                ["seal", bench.level, "-o", bench.pack, "--compression", "best"] + bench.keys
            ).failed(64, naming: "best", "--compression")
        }
    }

    /// What `vault.json` says counts for its pack, and what the command says for all.
    @Test func publishTakesItFromTheSettings() async throws {
        let workshop = try await Workshop()
        func length(_ id: String, _ compression: String, _ arguments: String...) async throws -> Int64 {
            try workshop.folder.write(
                "vault/vault.json",
                #"{"format": 1, "packs": {"\#(id)": {"source": "\#(bench.level)", "compression": "\#(compression)"}}}"#
            )
            let report = try await Command.run(["publish", workshop.vault, "--json"] + arguments).succeeded()
            let packs = try #require(report.json()["packs"]?.elements)
            return try #require(packs.first { $0["id"]?.text == id }?["length"]?.number)
        }
        let stored = try await length("stored", "none")
        let compressed = try await length("compressed", "default")
        #expect(stored > compressed)
        #expect(try await length("overruled", "default", "--compression", "none") == stored)
        try await workshop.fetch().succeeded()
        try await expectSameTree(bench.level, workshop.path(of: "overruled"))

        try workshop.folder.write(
            "vault/vault.json",
            #"{"format": 1, "packs": {"level": {"source": "x", "compression": "best"}}}"#)
        try await Command.run("publish", workshop.vault).failed(
            64, naming: "best", "none, fast, default, max")
    }
}
