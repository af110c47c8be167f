import Foundation
import SystemPackage
import Testing
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem

@Suite struct StoreTests {
    @Test func manyProcessesMayRefreshAtOnce() async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        try repository.publish(.root)
        try repository.release("packs/b.avpack")
        let source = repository.source
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    // A separate store value, as in another process.
                    let store = MetadataStore(folder: client.store.folder)
                    return try await store.refresh(from: source, now: Repository.now).versions
                }
            }
            for try await versions in group {
                #expect(versions == .init(root: 2, timestamp: 2, snapshot: 2, targets: 2))
            }
        }
    }

    @Test func aSlowRefreshNeverReplacesWhatAFasterOneStored() async throws {
        var repository = try Repository()
        let original = repository
        try repository.release("packs/b.avpack")
        let slow = repository.files
        try repository.release("packs/c.avpack")
        let newest = repository.source
        for name in ["timestamp.json", "2.snapshot.json", "2.targets.json"] {
            let client = try await TestClient.trusting(original)
            let interrupted = InterruptedSource(MemorySource(slow), at: name) {
                try await client.refresh(newest)
            }
            await client.expectRefusal(
                of: interrupted, saying: "version 2 is older than the trusted version 3",
                leaving: .init(root: 1, timestamp: 3, snapshot: 3, targets: 3))
        }
    }

    @Test func refreshStartsAgainUnderAConcurrentRoot() async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        try repository.release("packs/b.avpack")
        let old = repository
        repository.keys[.targets] = [SigningKey()]
        try repository.publish(.root)
        try repository.release("packs/c.avpack")
        let newest = repository.source
        // The old files, signed by a targets key that is revoked meanwhile.
        let interrupted = InterruptedSource(MemorySource(old.files), at: "2.targets.json") {
            try await client.refresh(newest)
        }
        await client.expectRefusal(
            of: interrupted, leaving: .init(root: 2, timestamp: 3, snapshot: 3, targets: 3))
    }

    /// As a process leaves it that died while it pinned: nothing is pinned, and the next one pins, also another root.
    @Test func aHistoryWithoutRootIsNoPin() async throws {
        let (repository, other) = (try Repository(), try Repository())
        let client = TestClient()
        try await client.store.pin(repository.firstRoot)
        #expect(try client.store.pinDigest() == SHA256.hash(repository.firstRoot.span))
        for pinned in [repository, other] {
            try FileSystem.removeFile(client.store.folder.appending("root.json"))
            #expect(try client.store.pinDigest() == nil)
            try await client.store.pin(pinned.firstRoot)
            #expect(try client.store.pinDigest() == SHA256.hash(pinned.firstRoot.span))
        }
        try await client.refresh(other.source)
    }

    @Test func concurrentRootIsUsedEvenWithoutOtherChanges() async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        try repository.release("packs/b.avpack")
        var revoking = repository
        revoking.keys[.targets] = [SigningKey()]
        try revoking.publish(.root)
        let newest = revoking.source
        let interrupted = InterruptedSource(newest, at: "2.targets.json") {
            try? await client.refresh(newest)
        }
        // Only the first request for the new root finds none.
        let slow = LateRootSource(interrupted)
        await client.expectRefusal(of: slow, leaving: .init(root: 2, timestamp: 2, snapshot: 2, targets: 1))
    }

    @Test func damagedFilesAreFetchedAgain() async throws {
        let repository = try Repository()
        let client = try await TestClient.trusting(repository)
        for role in [MetadataRole.timestamp, .snapshot, .targets] {
            let good = try #require(client.bytes(role.fileName))
            let oversized = [UInt8](repeating: 0x20, count: role.sizeLimit / 1000 * 1001)
            for bytes in [[], Array(good.dropLast(9)), role == .targets ? [0] : oversized] {
                try client.write(bytes, to: role.fileName)
                try await client.refresh(repository.source)
                #expect(client.bytes(role.fileName) == good)
            }
        }
    }

    @Test func aDamagedRootIsNeverReplacedSilently() async throws {
        let repository = try Repository()
        let client = try await TestClient.trusting(repository)
        try client.write(Array(repository.firstRoot.dropLast(5)), to: "root.json")
        let error = await #expect(throws: VaultError.self) {
            try await client.refresh(repository.source, trusting: repository.firstRoot)
        }
        #expect(error?.category == .untrusted)
        #expect(error?.remedy.contains("remove \(client.store.folder)") == true)
    }

    @Test func interruptedPinningIsRepeated() async throws {
        let repository = try Repository()
        let client = try await TestClient.trusting(repository)
        let folder = client.store.folder.string
        for name in ["root.json", "timestamp.json", "snapshot.json", "targets.json"] {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        try await client.refresh(repository.source, trusting: repository.firstRoot)
        #expect(try client.store.pinDigest() != nil)
        try await client.refresh(repository.source, trusting: repository.firstRoot)
    }

    @Test func verifyingNeedsNoStore() async throws {
        var repository = try Repository()
        try repository.publish(.root)
        try repository.release("packs/b.avpack")
        for pin in [repository.firstRoot, repository.files["2.root.json"], nil] {
            let chain = try await TrustChain.verifying(
                repository.source, pinnedRoot: pin.map { try VerifiedRoot(trustedRootFile: $0) },
                now: Repository.now)
            #expect(chain.versions == .init(root: 2, timestamp: 2, snapshot: 2, targets: 2))
        }
        let other = try Repository().firstRoot
        func verify(_ pin: [UInt8]?, of repository: Repository) async throws -> TrustChain {
            try await TrustChain.verifying(
                repository.source, pinnedRoot: pin.map { try VerifiedRoot(trustedRootFile: $0) },
                now: Repository.now)
        }
        await expectRefusal { try await verify(other, of: repository) }
        repository.files["1.root.json"] = nil
        await expectRefusal(as: .unavailable) { try await verify(nil, of: repository) }
        // A site can be read however old it is.
        await #expect(throws: VaultError.self) {
            try await TrustChain.verifying(Repository().source, pinnedRoot: nil, now: .latest)
        }
        _ = try await TrustChain.verifying(Repository().source, pinnedRoot: nil, now: .earliest)
    }
}

/// A slow host: during one request something else happens, once.
private actor InterruptedSource: MetadataSource {
    private let source: MemorySource
    private let name: String
    private var action: (@Sendable () async throws -> Void)?

    init(
        _ source: MemorySource, at name: String,
        _ action: @escaping @Sendable () async throws -> some Sendable
    ) {
        self.source = source
        self.name = name
        self.action = { _ = try await action() }
    }

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        if name == self.name, let action {
            self.action = nil
            do {
                try await action()
            } catch {
                throw VaultError(
                    .usage, "the interruption failed: \(error)", at: name, remedy: "fix the test")
            }
        }
        return try await source.metadata(named: name, limit: limit)
    }
}

/// A host that has its second root from the second request on.
private actor LateRootSource: MetadataSource {
    private let source: any MetadataSource
    private var requests = 0

    init(_ source: any MetadataSource) {
        self.source = source
    }

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        if name == "2.root.json" {
            requests += 1
            if requests == 1 { return nil }
        }
        return try await source.metadata(named: name, limit: limit)
    }
}
