import Testing
import UpdateFramework
import VaultBase

@Suite struct RootChainTests {
    @Test func keysRotateOverManyVersions() async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        for _ in 0..<3 {
            let old = repository.keys[.root] ?? []
            repository.keys[.root] = [SigningKey()]
            repository.signers[.root] = old + (repository.keys[.root] ?? [])
            try repository.publish(.root)
        }
        #expect(try await client.refresh(repository.source).root.version == 4)
        // A client that starts with the first root follows too.
        #expect(
            try await TestClient().refresh(repository.source, trusting: repository.firstRoot).root.version
                == 4)
        for version in 1...4 {
            let stored = try #require(client.bytes("root_history/\(version).root.json"))
            #expect(
                stored == (version == 1 ? repository.firstRoot : repository.files["\(version).root.json"]))
        }
    }

    @Test func newRootsNeedOldAndNewSignatures() async throws {
        let original = try Repository()
        let client = try await TestClient.trusting(original)
        let old = original.keys[.root] ?? []
        let new = [SigningKey()]
        for (signers, delegator) in [
            (new, "root version 1"), (old, "root version 2"), ([], "root version 1"),
        ] {
            var repository = original
            repository.keys[.root] = new
            repository.signers[.root] = signers
            try repository.publish(.root)
            await client.expectRefusal(
                of: repository.source, at: "2.root.json",
                saying: "0 valid signatures of the root keys in \(delegator)",
                leaving: .first)
        }
    }

    @Test func thresholdsOfBothRootsCount() async throws {
        let keys = (0..<5).map { _ in SigningKey() }
        /// Keys and threshold of version 1, of version 2, signers of version 2, whether it is accepted.
        let cases: [([Int], Int, [Int], Int, [Int], Bool)] = [
            ([0, 1, 2], 2, [0, 1, 2], 2, [0, 2], true), ([0, 1, 2], 2, [0, 1, 2], 2, [0], false),
            ([0, 1, 2], 2, [2, 3, 4], 2, [0, 2, 3], true), ([0, 1, 2], 2, [2, 3, 4], 2, [2, 3], false),
            ([0, 1, 2], 2, [2, 3, 4], 2, [0, 1], false), ([0, 1, 2], 2, [0, 1, 2], 1, [0], false),
            ([0, 1, 2], 1, [0, 1, 2], 2, [0], false), ([0, 1, 2], 1, [0, 1, 2], 3, [2, 1, 0], true),
        ]
        for (index, (first, threshold, second, newThreshold, signers, isBelieved)) in cases.enumerated() {
            var repository = try Repository()
            repository.keys[.root] = first.map { keys[$0] }
            repository.thresholds[.root] = threshold
            try repository.put(.root)
            let client = TestClient()
            repository.keys[.root] = second.map { keys[$0] }
            repository.thresholds[.root] = newThreshold
            repository.signers[.root] = signers.map { keys[$0] }
            try repository.publish(.root)
            let chain = try? await client.refresh(repository.source, trusting: repository.firstRoot)
            #expect(chain?.root.version == (isBelieved ? 2 : nil), "case \(index)")
        }
    }

    @Test(arguments: [1, 3] as [Int64])
    func versionsMustBeConsecutive(_ version: Int64) async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        repository.versions[.root] = version
        repository.files["2.root.json"] = try repository.sign(
            repository.draft(.root).signed, by: repository.keys[.root] ?? [])
        await client.expectRefusal(
            of: repository.source, at: "2.root.json", saying: "version is \(version) where 2 is expected",
            leaving: .first)
    }

    @Test func anEndlessChainIsBounded() async throws {
        var repository = try Repository()
        for _ in 0..<1030 { try repository.publish(.root) }
        let source = repository.source
        let chain = try await TrustChain.verifying(
            source, pinnedRoot: VerifiedRoot(trustedRootFile: repository.firstRoot), now: Repository.now)
        #expect(chain.root.version == 1025)
        #expect(!source.requests.contains("1026.root.json"))
        // A client with a store continues from there.
        let client = TestClient()
        #expect(try await client.refresh(source, trusting: repository.firstRoot).root.version == 1025)
        #expect(try await client.refresh(source).root.version == 1031)
    }

    @Test func onlyTheNewestRootMustBeUnexpired() async throws {
        var repository = try Repository()
        repository.expiries[.root] = UTCTime("2025-12-31T00:00:00Z")
        try repository.put(.root)
        let client = TestClient()
        let expired = repository.source
        try await client.store.pin(repository.firstRoot)
        await client.expectRefusal(
            of: expired, at: "\(client.store.folder)/root.json", saying: "expired at 2025-12-31T00:00:00Z",
            leaving: [.root: 1])
        repository.expiries[.root] = nil
        try repository.publish(.root)
        #expect(try await client.refresh(repository.source).root.version == 2)
    }

    @Test func expiredNewRootIsStoredAndEndsTheRefresh() async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        repository.expiries[.root] = Repository.now
        try repository.publish(.root)
        try repository.release("packs/b.avpack")
        await client.expectRefusal(
            of: repository.source, at: "2.root.json",
            saying: "expired at 2026-01-01T00:00:00Z, and now it is 2026",
            leaving: .init(root: 2, timestamp: 1, snapshot: 1, targets: 1))
    }

    @Test func aStoreNeedsARoot() async throws {
        let repository = try Repository()
        await TestClient().expectRefusal(of: repository.source, saying: "no trusted root")
    }

    @Test func anotherSitesRootDoesNotReplaceThePin() async throws {
        let (mine, other) = (try Repository(), try Repository())
        let client = try await TestClient.trusting(mine)
        let pin = try client.store.pinDigest()
        for source in [mine.source, other.source] {
            await client.expectRefusal(of: source, trusting: other.firstRoot)
        }
        #expect(try client.store.pinDigest() == pin)
        try await client.refresh(mine.source, trusting: mine.firstRoot)
    }

    /// A wrong root that verified nothing is replaced by the right one.
    @Test func aWrongFirstRootIsReplaced() async throws {
        let (mine, other) = (try Repository(), try Repository())
        let client = TestClient()
        await client.expectRefusal(of: mine.source, trusting: other.firstRoot)
        #expect(try await client.refresh(mine.source, trusting: mine.firstRoot).root.version == 1)
        await client.expectRefusal(of: other.source, trusting: other.firstRoot)
        #expect(try await client.refresh(mine.source).root.version == 1)
    }

    @Test func acceptsALaterRootOfTheSameChain() async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        try repository.publish(.root)
        try repository.publish(.root)
        let second = try #require(repository.files["2.root.json"])
        #expect(try await client.refresh(repository.source, trusting: second).root.version == 3)
        #expect(try await client.refresh(repository.source, trusting: second).root.version == 3)
    }

    /// Somebody with write access to the store puts another site's root there, with its history.
    @Test(arguments: [1, 2])
    func replacedStoreIsRefusedWhenTheTrueRootIsGiven(versions: Int) async throws {
        var mine = try Repository()
        let client = try await TestClient.trusting(mine)
        var evil = try Repository()
        for _ in 1..<versions {
            try mine.publish(.root)
            try evil.publish(.root)
        }
        try await client.refresh(mine.source)
        let newest = try #require(versions == 1 ? evil.firstRoot : evil.files["\(versions).root.json"])
        for (name, bytes) in [("root.json", newest), ("root_history/1.root.json", evil.firstRoot)] {
            try client.write(bytes, to: name)
        }
        if versions > 1 { try client.write(newest, to: "root_history/\(versions).root.json") }
        for name in ["timestamp.json", "1.snapshot.json", "1.targets.json"] {
            let stored = name.hasPrefix("1.") ? String(name.dropFirst(2)) : name
            try client.write(try #require(evil.files[name]), to: stored)
        }
        for source in [evil.source, mine.source] {
            await client.expectRefusal(of: source, trusting: mine.firstRoot)
        }
    }

    /// The newest root, or also its file in the history, without signatures of the pinned root.
    @Test(arguments: [["root.json"], ["root.json", "root_history/2.root.json"]])
    func rootWithoutAChainFromThePinIsRefused(names: [String]) async throws {
        var mine = try Repository()
        let client = try await TestClient.trusting(mine)
        try mine.publish(.root)
        try await client.refresh(mine.source)
        var evil = try Repository()
        try evil.publish(.root)
        for name in names { try client.write(try #require(evil.files["2.root.json"]), to: name) }
        for root in [nil, mine.firstRoot] {
            await client.expectRefusal(of: evil.source, trusting: root, saying: "stored root is damaged")
        }
    }

    @Test(arguments: ["-1", "0"]) func aFileThatNoVersionNamesIsNotThePin(name: String) async throws {
        let mine = try Repository()
        let client = try await TestClient.trusting(mine)
        try client.write(try Repository().firstRoot, to: "root_history/\(name).root.json")
        #expect(try await client.refresh(mine.source, trusting: mine.firstRoot).root.version == 1)
    }

    /// A root older than the pin is accepted: the site's roots lead from it to the stored one.
    @Test func acceptsARootOlderThanThePin() async throws {
        var repository = try Repository()
        for _ in 0..<3 { try repository.publish(.root) }
        let client = TestClient()
        let third = try #require(repository.files["3.root.json"])
        #expect(try await client.refresh(repository.source, trusting: third).root.version == 4)
        #expect(
            try await client.refresh(repository.source, trusting: repository.firstRoot).root.version == 4)
    }

    @Test func anExchangedSiteIsRefused() async throws {
        let (mine, other) = (try Repository(), try Repository())
        let client = try await TestClient.trusting(mine)
        await client.expectRefusal(
            of: other.source, at: "timestamp.json", saying: "0 valid signatures",
            leaving: .first)
    }

    @Test func aRootMustBeSignedByItself() async throws {
        var repository = try Repository()
        repository.signers[.root] = [SigningKey()]
        try repository.put(.root)
        let client = TestClient()
        await #expect(throws: VaultError.self) { try await client.store.pin(repository.firstRoot) }
        #expect(client.fileNames.isEmpty)
    }
}
