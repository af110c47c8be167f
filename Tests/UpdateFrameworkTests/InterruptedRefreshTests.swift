import SystemPackage
import Testing
import VaultBase
import VaultCrypto
import VaultFileSystem

@testable import UpdateFramework

/// A refresh that ends early: what was verified before it can still be read.
@Suite struct InterruptedRefreshTests {
    private var repository: Repository
    private let client: TestClient

    init() async throws {
        repository = try Repository()
        client = try await TestClient.trusting(repository)
    }

    /// Refreshes from a host that fails at a file.
    private func refresh(failingAt name: String) async throws {
        let source = MemorySource(repository.files, failing: [name])
        await #expect(throws: VaultError.self) { try await client.refresh(source) }
    }

    @Test(arguments: ["timestamp.json", "2.snapshot.json", "2.targets.json"])
    mutating func theMetadataBeforeItAreRead(name: String) async throws {
        try repository.release("packs/b.avpack")
        try await refresh(failingAt: name)
        let chain = try await client.store.storedChain()
        #expect(chain.versions == .first)
        #expect(chain.targets["packs/b.avpack"] == nil)

        try await client.refresh(repository.source)
        #expect(try await client.store.storedChain().versions[.targets] == 2)
        #expect(!client.fileNames.contains("earlier"))
    }

    /// The first of several keeps what all of them can't replace.
    @Test mutating func severalInARow() async throws {
        for version in 2...4 {
            try repository.release("packs/\(version).avpack")
            try await refresh(failingAt: "\(version).snapshot.json")
            #expect(try await client.store.storedChain().versions == .first)
        }
        try await client.refresh(repository.source)
        #expect(try await client.store.storedChain().versions[.targets] == 4)
    }

    /// A host can't return to them: the newest timestamp counts there.
    @Test mutating func theyDoNotLowerVersions() async throws {
        let old = repository.source
        try repository.release("packs/b.avpack")
        try await refresh(failingAt: "2.snapshot.json")
        await client.expectRefusal(of: old)
        #expect(client.versions[.timestamp] == 2)
    }

    /// A root that replaces a key of the timestamp or the snapshot makes a client forget both. What was verified before it can
    /// still be read.
    @Test(
        arguments: [MetadataRole.timestamp, .snapshot],
        ["timestamp.json", "2.snapshot.json", "2.targets.json"])
    mutating func aReplacedKey(of role: MetadataRole, failingAt name: String) async throws {
        let old = repository.source
        repository.records.append(
            TargetRecord(path: "packs/b.avpack", length: 1, sha256: SHA256.hash([7].span)))
        repository.keys[role] = [SigningKey()]
        try repository.publish(.root, .targets, .snapshot, .timestamp)
        try await refresh(failingAt: name)
        #expect(client.versions[.root] == 2)
        #expect(try await client.store.storedChain().versions == .first)
        await client.expectRefusal(of: old)
        // A second one.
        repository.keys[role] = [SigningKey()]
        try repository.publish(.root, .targets, .snapshot, .timestamp)
        try await refresh(failingAt: "timestamp.json")
        #expect(client.versions[.root] == 3)
        #expect(try await client.store.storedChain().versions == .first)

        try await client.refresh(repository.source)
        #expect(try await client.store.storedChain().versions[.targets] == 3)
        #expect(!client.fileNames.contains("earlier"))
    }

    /// What a key signed that was revoked since counts no more.
    @Test mutating func aRevokedKeyEndsThem() async throws {
        try repository.release("packs/b.avpack")
        try await refresh(failingAt: "2.snapshot.json")
        repository.keys[.targets] = [SigningKey()]
        try repository.publish(.root, .targets, .snapshot, .timestamp)
        try await refresh(failingAt: "3.snapshot.json")
        #expect(client.versions[.root] == 2)
        await #expect(throws: VaultError.self) { try await client.store.storedChain() }
    }

    /// Damaged ones verify nothing, and hinder nothing.
    @Test mutating func damage() async throws {
        try repository.release("packs/b.avpack")
        try await refresh(failingAt: "2.snapshot.json")
        try client.write(Array("{".utf8), to: "earlier/1/snapshot.json")
        await #expect(throws: VaultError.self) { try await client.store.storedChain() }
        try await client.refresh(repository.source)
        #expect(try await client.store.storedChain().versions[.targets] == 2)
    }

    /// A process that died before it removed them, or a power failure, leaves some that count no more.
    @Test(arguments: [false, true]) mutating func whatIsLeftOfThem(isEmpty: Bool) async throws {
        var left: [String: [UInt8]] = [:]
        for name in ["timestamp.json", "snapshot.json", "targets.json"] {
            left[name] = isEmpty ? [] : try #require(client.bytes(name))
        }
        try repository.release("packs/b.avpack")
        try await client.refresh(repository.source)
        try FileSystem.createFolders(client.store.folder.pushing("earlier/1"), permissions: 0o755)
        for (name, bytes) in left { try client.write(bytes, to: "earlier/1/\(name)") }
        try repository.release("packs/c.avpack")
        try await refresh(failingAt: "3.targets.json")
        #expect(try await client.store.storedChain().versions[.targets] == 2)
    }

    /// No link is followed, and what is not a folder is replaced.
    @Test(arguments: [false, true]) mutating func whatIsNoFolder(isLink: Bool) async throws {
        let elsewhere = client.store.folder.appending("elsewhere")
        try FileSystem.createFolders(elsewhere, permissions: 0o755)
        if isLink {
            try Folder(opening: client.store.folder).symlink("earlier", target: elsewhere)
        } else {
            try client.write([], to: "earlier")
        }
        try repository.release("packs/b.avpack")
        try await refresh(failingAt: "2.snapshot.json")
        #expect(try Folder(opening: elsewhere).names().isEmpty)
        #expect(try await client.store.storedChain().versions == .first)
    }
}
