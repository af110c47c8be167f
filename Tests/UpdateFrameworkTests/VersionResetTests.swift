import Foundation
import SystemPackage
import Testing
import VaultBase

@testable import UpdateFramework

/// Recovery from version numbers that an attacker raised (section 5.3.11): versions are forgotten neither too early nor
/// too late.
@Suite struct VersionResetTests {
    private static let last = NextVersions.highestPossible

    /// A client that has the highest version of the snapshot, and the repository with new keys and low versions.
    private func raised() async throws -> (TestClient, Repository) {
        var repository = try Repository()
        repository.versions[.snapshot] = Self.last - 1
        repository.versions[.timestamp] = 900
        try repository.publish(.snapshot, .timestamp)
        let client = try await TestClient.trusting(repository)
        repository.keys[.snapshot] = [SigningKey()]
        repository.versions[.snapshot] = 1
        repository.versions[.timestamp] = 1
        try repository.publish(.root, .targets, .snapshot, .timestamp)
        return (client, repository)
    }

    /// A store adopts what another process refreshed, as if it had come from the host.
    @Test func adoptsLowerVersionsAfterAReset() async throws {
        let (app, repository) = try await raised()
        let downloader = try await TestClient.trusting(repository)
        try await app.store.adopt(downloader.store)
        #expect(app.versions == downloader.versions)
        #expect(app.versions[.snapshot] == 2 && app.versions[.timestamp] == 2)
    }

    /// Lower versions of a store without the new root are not adopted.
    @Test func refusesLowerVersionsWithoutAReset() async throws {
        var repository = try Repository()
        let downloader = try await TestClient.trusting(repository)
        try repository.release("packs/b.avpack")
        let app = try await TestClient.trusting(repository)
        await #expect(throws: VaultError.self) { try await app.store.adopt(downloader.store) }
        #expect(app.versions[.timestamp] == 2)
    }

    /// A process died after it removed the versions, and before it stored the new root: a host that hides that root
    /// can't return to an earlier state.
    @Test func interruptedResetIsCompleted() async throws {
        var repository = try Repository()
        let old = repository.source
        try repository.release("packs/b.avpack")
        let client = try await TestClient.trusting(repository)
        let oldRoot = try #require(client.bytes("root.json"))
        repository.keys[.timestamp] = [SigningKey()]
        try repository.publish(.root, .timestamp)
        try await client.refresh(repository.source)
        try client.write(oldRoot, to: "root.json")
        for name in ["timestamp.json", "snapshot.json"] {
            try FileManager.default.removeItem(atPath: client.store.folder.appending(name).string)
        }
        await client.expectRefusal(of: old)
        #expect(client.versions[.root] == 2 && client.versions[.timestamp] == nil)
        #expect(try await client.refresh(repository.source).timestamp.version == 3)
    }

    @Test func exhaustedVersionsContinueInTheLowerHalf() {
        var next = NextVersions()
        #expect(next[.snapshot] == 1)
        for version in [3, 7, 1 << 52, Self.last - 1] { next.add(version, of: "snapshot.json") }
        #expect(next[.snapshot] == Self.last)
        next.add(Self.last, of: "snapshot.json")
        #expect(next[.snapshot] == 8 && next[.targets] == 1)
        next.add(8, of: "snapshot.json")
        #expect(next[.snapshot] == 9)
    }

    /// Lower versions are published only together with the root that lets clients forget the higher ones.
    @Test(arguments: [MetadataRole.snapshot, .timestamp, nil])
    func publisherLowersVersionsOnlyWithTheRoot(replacing role: MetadataRole?) async throws {
        let publisher = Publisher()
        try await publisher.publish(["packs/a.avpack"])
        for role in MetadataRole.allTopLevel where role != .root { publisher.versions[role] = Self.last - 1 }
        try await publisher.publish(["packs/a.avpack"])
        for role in MetadataRole.allTopLevel where role != .root { publisher.versions[role] = 1 }
        if let role { publisher.keys[role] = SigningKey() }
        let before = publisher.files
        do {
            try await publisher.publish(["packs/b.avpack"], root: true)
            #expect(role != nil)
        } catch let error as VaultError {
            #expect(role == nil && error.category == .untrusted)
            #expect(publisher.files == before)
            return
        }
        // Versions are not forgotten twice.
        publisher.versions[.timestamp] = 0
        await #expect(throws: VaultError.self) { try await publisher.publish(["packs/c.avpack"]) }
    }
}
