import Testing
import UpdateFramework
import VaultBase

@Suite struct FreezeTests {
    @Test(arguments: MetadataRole.belowRoot)
    func expiredMetadataIsRefused(_ role: MetadataRole) async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        repository.expiries[role] = UTCTime("2025-12-31T23:59:59Z")
        try repository.release("packs/b.avpack")
        await client.expectRefusal(
            of: repository.source, at: role.hostedName(version: 2),
            saying: "expired at 2025-12-31T23:59:59Z, and now it is 2026-01-01T00:00:00Z",
            leaving: .kept(refusing: role))
    }

    @Test(arguments: MetadataRole.belowRoot)
    func expiryIsExact(_ role: MetadataRole) async throws {
        for (expiry, isBelieved) in [("2026-01-01T00:00:00Z", false), ("2026-01-01T00:00:01Z", true)] {
            var repository = try Repository()
            repository.expiries[role] = UTCTime(expiry)
            try repository.release("packs/b.avpack")
            let chain = try? await TestClient().refresh(repository.source, trusting: repository.firstRoot)
            #expect((chain != nil) == isBelieved)
        }
    }

    @Test func frozenHostIsDetected() async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        for (days, place) in [(31, "trusted timestamp.json"), (400, "\(client.store.folder)/root.json")] {
            await client.expectRefusal(
                of: repository.source, now: Repository.now.adding(days: days), at: place,
                saying: "expired at", leaving: .first)
        }
        repository.expiries[.timestamp] = UTCTime.latest
        try repository.publish(.timestamp)
        await client.expectRefusal(
            of: repository.source, now: Repository.now.adding(days: 31), at: "1.snapshot.json",
            saying: "expired at", leaving: .init(root: 1, timestamp: 2, snapshot: 1, targets: 1))
        // The next refresh still works.
        repository.expiries[.snapshot] = UTCTime.latest
        try repository.publish(.snapshot, .timestamp)
        try await client.refresh(repository.source, now: Repository.now.adding(days: 31))
    }
}
