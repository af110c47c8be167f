import Testing
import UpdateFramework
import VaultBase

@Suite struct HashBinsTests {
    private let trust = RoleTrust([SigningKey().publicKey])
    private static let paths = ["packs/a.avpack", "packs/é 1", "", "levels/world-7/tiles.avpack"]

    /// As python-tuf 7.0 creates them: bits, the first, second and last name, the bins of the paths above.
    @Test(arguments: [
        (1, ["bin-0", "bin-1", "bin-1"], ["bin-1", "bin-1", "bin-1", "bin-1"]),
        (4, ["bin-0", "bin-1", "bin-f"], ["bin-c", "bin-c", "bin-e", "bin-9"]),
        (8, ["bin-00", "bin-01", "bin-ff"], ["bin-ce", "bin-c7", "bin-e3", "bin-96"]),
        (10, ["bin-000", "bin-001", "bin-3ff"], ["bin-33a", "bin-31c", "bin-38e", "bin-258"]),
        (14, ["bin-0000", "bin-0001", "bin-3fff"], ["bin-33af", "bin-31c3", "bin-38ec", "bin-2584"]),
    ])
    func binNamesMatchPythonTUF(
        _ bits: Int, _ names: [String], _ found: [String]
    ) throws {
        let bins = try #require(HashBins(bitLength: bits, namePrefix: "bin", trust: trust))
        #expect(bins.count == 1 << bits)
        #expect([0, 1, bins.count - 1].map { bins.role(at: $0)?.name } == names)
        #expect(Self.paths.map { bins.role(at: bins.index(of: $0))?.name } == found)
    }

    @Test func bitLengthIsLimited() {
        for bits in [0, -1, 15, 32, .max, .min] {
            #expect(HashBins(bitLength: bits, namePrefix: "bin", trust: trust) == nil)
        }
        for prefix in [String(repeating: "x", count: 196), String(repeating: "/", count: 66)] {
            #expect(HashBins(bitLength: 1, namePrefix: prefix, trust: trust) == nil)
        }
        #expect(HashBins(bitLength: 1, namePrefix: String(repeating: "x", count: 195), trust: trust) != nil)
    }

    @Test(arguments: [1, 4, 8, 10, 14])
    func readsOnlyTheBinOfAPath(_ bits: Int) async throws {
        var repository = try Repository()
        repository.delegateToBins(bitLength: bits, namePrefix: "bin")
        for number in 0..<5 { repository.listInBin("packs/\(number)") }
        try repository.publishAll()
        let bins = try #require(repository.hashBins(of: .targets))
        let client = try await TestClient.trusting(repository)
        for number in 0..<5 {
            let path = "packs/\(number)"
            let bin = try #require(bins.role(at: bins.index(of: path)))
            let source = repository.source
            let record = try await client.target(at: path, in: source)
            #expect(record?.author == bin.name)
            // The earlier ones are still stored.
            #expect(
                Set(source.requests).subtracting(["2.root.json", "timestamp.json", "1.\(bin).json"]) == [])
        }
        #expect(try await client.target(at: "packs/a.avpack", in: repository.source)?.author == nil)
    }

    @Test func ignoresRecordsInTheWrongBin() async throws {
        var repository = try Repository()
        repository.delegateToBins(bitLength: 1, namePrefix: "bin")
        repository.listInBin("packs/1")
        let bins = try #require(repository.hashBins(of: .targets))
        let own = try #require(bins.role(at: bins.index(of: "packs/1")))
        let other = try #require(bins.role(at: 1 - bins.index(of: "packs/1")))
        repository.keys[other] = repository.keys[own]
        repository.listings[other] = [.of("packs/1", by: other), .of("packs/x", by: other)]
        repository.listings[own] = [.of("packs/1", by: own), .of("packs/x", by: own)]
        try repository.publishAll()
        let tree = try await TestClient.tree(of: repository)
        #expect(try tree.record(at: "packs/1")?.author == own.name)
        #expect(tree.delegatedRoles.count == 2)
        #expect(tree.records.filter { $0.path == "packs/1" }.map(\.author) == [own.name])
        #expect(tree.records.count == 3)
    }
}
