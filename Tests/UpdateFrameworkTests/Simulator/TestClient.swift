import Foundation
import SystemPackage
import Testing
import UpdateFramework
import VaultBase

/// A store in a temporary folder.
final class TestClient: Sendable {
    let store: MetadataStore
    private let folder: String

    init() {
        // In memory, to avoid the cost of `fsync`.
        let base = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
        folder = "\(base)/assetvault-trust-\(UUID().uuidString)"
        store = MetadataStore(folder: FilePath(folder))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    @discardableResult
    func refresh(
        _ source: MemorySource, trusting root: [UInt8]? = nil, now: UTCTime = Repository.now
    ) async throws -> TrustChain {
        try await store.refresh(from: source, trusting: root, now: now)
    }

    /// A client that has refreshed from the repository.
    static func trusting(_ repository: Repository) async throws -> TestClient {
        let client = TestClient()
        try await client.refresh(repository.source, trusting: repository.firstRoot)
        return client
    }

    /// Refreshes, then looks a path up.
    func target(at path: String, in source: MemorySource) async throws -> TargetRecord? {
        let chain = try await refresh(source)
        return try await store.lookup(from: source, now: Repository.now).target(at: path, in: chain)
    }

    /// Refreshes, then reads all roles.
    func tree(_ source: MemorySource) async throws -> TargetTree {
        let chain = try await refresh(source)
        return try await store.lookup(from: source, now: Repository.now).tree(of: chain)
    }

    /// The tree that a client without a store reads.
    static func tree(of repository: Repository) async throws -> TargetTree {
        try await TargetTree.verifying(
            repository.source, pinnedRoot: VerifiedRoot(trustedRootFile: repository.firstRoot),
            now: Repository.now)
    }

    func bytes(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: "\(folder)/\(name)").map { Array($0) }
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
    }

    /// The stored version of each role.
    var versions: [MetadataRole: Int64] {
        var versions: [MetadataRole: Int64] = [:]
        for role in MetadataRole.allTopLevel {
            guard let bytes = bytes(role.fileName) else { continue }
            versions[role] = try? UnverifiedMetadata(parsing: bytes, as: role, place: "store").document
                .version
        }
        return versions
    }

    var fileNames: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()) ?? []
    }

    /// Expects a refusal of a refresh, and these stored versions afterwards, if any are given.
    func expectRefusal(
        of source: some MetadataSource, trusting root: [UInt8]? = nil, now: UTCTime = Repository.now,
        as category: VaultError.Category = .untrusted, at place: String = "", saying words: String = "",
        leaving versions: [MetadataRole: Int64]? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await UpdateFrameworkTests.expectRefusal(
            as: category, at: place, saying: words, sourceLocation: sourceLocation
        ) { try await self.store.refresh(from: source, trusting: root, now: now) }
        if let versions { #expect(self.versions == versions, sourceLocation: sourceLocation) }
    }
}

/// Expects a refusal of this category, whose place begins like this and whose problem has these words.
func expectRefusal<Result>(
    as category: VaultError.Category = .untrusted, at place: String = "", saying words: String = "",
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
) async {
    let error = await #expect(throws: VaultError.self, sourceLocation: sourceLocation) {
        _ = try await body()
    }
    guard let error else { return }
    #expect(error.category == category, "\(error)", sourceLocation: sourceLocation)
    #expect(error.place.hasPrefix(place), "\(error)", sourceLocation: sourceLocation)
    #expect(words.isEmpty || error.problem.contains(words), "\(error)", sourceLocation: sourceLocation)
}

extension [MetadataRole: Int64] {
    /// Version 1 of everything.
    static let first: Self = .init(root: 1, timestamp: 1, snapshot: 1, targets: 1)

    /// The stored versions of a client with version 1 of everything when the role's second version is refused.
    static func kept(refusing role: MetadataRole) -> Self {
        switch role {
        case .root, .timestamp: .first
        case .snapshot: .init(root: 1, timestamp: 2, snapshot: 1, targets: 1)
        default: .init(root: 1, timestamp: 2, snapshot: 2, targets: 1)
        }
    }

    init(root: Int64, timestamp: Int64, snapshot: Int64, targets: Int64) {
        self = [.root: root, .timestamp: timestamp, .snapshot: snapshot, .targets: targets]
    }
}

extension TrustChain {
    var versions: [MetadataRole: Int64] {
        .init(
            root: root.version, timestamp: timestamp.version, snapshot: snapshot.version,
            targets: targets.version)
    }
}
