import Foundation
import Glibc
import SystemPackage
import Testing
import UpdateFramework
import VaultBase
import VaultCrypto

@Suite struct PublishingTests {
    private let publisher = Publisher()

    @Test func publishedFolderVerifies() async throws {
        let chain = try await publisher.publish(["packs/a.avpack"])
        let client = TestClient()
        let root = try #require(publisher.bytes("1.root.json"))
        let folder = MetadataFolder(publisher.path)
        let seen = try await client.store.refresh(from: folder, trusting: root, now: Repository.now)
        #expect(seen.versions == chain.versions)
        #expect(publisher.names == ["1.root.json", "1.snapshot.json", "1.targets.json", "timestamp.json"])
        try await publisher.publish(["packs/a.avpack", "packs/b.avpack"])
        let next = try await client.store.refresh(from: folder, now: Repository.now)
        #expect(next.versions == .init(root: 1, timestamp: 2, snapshot: 2, targets: 2))
        #expect(next.targets.records.map(\.path) == ["packs/a.avpack", "packs/b.avpack"])
    }

    @Test func modesDoNotDependOnTheUmask() async throws {
        let old = umask(0o077)
        defer { umask(old) }
        try await publisher.publish(["packs/a.avpack"])
        for name in publisher.names {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(publisher.path)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o644)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: publisher.path.string)
        #expect(attributes[.posixPermissions] as? Int == 0o755)
    }

    /// The metadata that a second publication writes, in order.
    private func secondPublication(
        root: Bool = false, replacingTheKeyOf role: MetadataRole? = nil
    ) async throws -> [String] {
        try await publisher.publish(["packs/a.avpack"])
        let watch = try FolderWatch(publisher.path.string)
        if let role { publisher.keys[role] = SigningKey() }
        try await publisher.publish(["packs/b.avpack"], root: root)
        return watch.arrivals().filter { $0.hasSuffix(".json") }
    }

    private static let rest = ["2.targets.json", "2.snapshot.json", "timestamp.json"]

    @Test func timestampIsWrittenAfterWhatItLists() async throws {
        #expect(try await secondPublication() == Self.rest)
    }

    /// A client that reads before the new root exists verifies the rest under the old one.
    @Test func rootIsWrittenLastWhenTheRestVerifiesUnderTheOldOne() async throws {
        #expect(try await secondPublication(root: true) == Self.rest + ["2.root.json"])
    }

    @Test(arguments: MetadataRole.belowRoot)
    func rootIsWrittenFirstWhenOnlyNewKeysSigned(_ role: MetadataRole) async throws {
        let names = try await secondPublication(root: true, replacingTheKeyOf: role)
        #expect(names == ["2.root.json"] + Self.rest)
    }

    @Test func publishedVersionsNeverChange() async throws {
        try await publisher.publish(["packs/a.avpack"])
        let before = publisher.files
        publisher.versions[.targets] = 0
        publisher.versions[.snapshot] = 1
        await expectRefusal(as: .unwritable, at: "\(publisher.path)/1.targets.json") {
            try await publisher.publish(["packs/b.avpack"])
        }
        #expect(publisher.files == before)
    }

    @Test func publishingTheSameBytesAgainWritesNothing() async throws {
        try await publisher.publish(["packs/a.avpack"])
        let watch = try FolderWatch(publisher.path.string)
        publisher.versions = [.root: 1]
        try await publisher.publish(["packs/a.avpack"])
        #expect(watch.arrivals().isEmpty)
    }

    @Test func invalidPublicationWritesNothing() async throws {
        try await publisher.publish(["packs/a.avpack"])
        try await publisher.publish(["packs/b.avpack"])
        let before = publisher.files
        // Expired, older than the present one, signed by the wrong key, a snapshot of other targets.
        let attempts: [(Publisher) -> Void] = [
            { $0.now = Repository.now.adding(days: -31) }, { $0.versions[.timestamp] = 0 },
            { $0.keys[.snapshot] = SigningKey() },
            { $0.snapshotOf = MetadataReference(version: 3, bytes: []) },
        ]
        for attempt in attempts {
            let other = publisher.copy()
            attempt(other)
            await expectRefusal { try await other.publish(["packs/c.avpack"]) }
            #expect(publisher.files == before)
        }
    }

    @Test func nextVersionsSkipAnInterruptedPublication() async throws {
        let folder = MetadataFolder(publisher.path)
        for role in MetadataRole.allTopLevel { #expect(try folder.nextVersions()[role] == 1) }
        try await publisher.publish(["packs/a.avpack"])
        try Data().write(to: URL(filePath: "\(publisher.path)/7.targets.json"))
        try Data().write(to: URL(filePath: "\(publisher.path)/9223372036854775807.snapshot.json"))
        try Data().write(to: URL(filePath: "\(publisher.path)/x.snapshot.json"))
        #expect(try folder.nextVersions()[.targets] == 8)
        #expect(try folder.nextVersions()[.snapshot] == 2)
        #expect(try folder.nextVersions()[.timestamp] == 2)
        #expect(try folder.nextVersions()[.root] == 2)
    }

    @Test func fileNamesStayInTheFolder() async throws {
        try await publisher.publish(["packs/a.avpack"])
        let folder = MetadataFolder(publisher.path.appending("x"))
        for name in ["../timestamp.json", "..", ".", "", "a/../../timestamp.json", "/etc/hostname"] {
            #expect(try folder.metadata(named: name, limit: 1000) == nil)
        }
    }

    @Test func signaturesDoNotDependOnTheirOrder() throws {
        let a = Ed25519PrivateKey()
        let b = Ed25519PrivateKey()
        let draft = try MetadataDraft.targets(version: 1, expires: .latest, records: [])
        #expect(try draft.signed(with: a).signed(with: b) == draft.signed(with: b).signed(with: a))
        #expect(try draft.signed(with: a) == draft.signed(with: a).signed(with: a))
    }

    @Test func invalidDraftsAreRefused() throws {
        let key = Ed25519PrivateKey().publicKey
        let record = TargetRecord(path: "p", length: 0, sha256: SHA256.hash([0].span))
        let all = TopLevelRole.allCases.map { ($0, RoleTrust([key])) }
        var roles = Dictionary(uniqueKeysWithValues: all)
        for threshold in [0, -1, 2] {
            roles[.targets] = RoleTrust([key, key], threshold: threshold)
            #expect(throws: VaultError.self) {
                try MetadataDraft.root(version: 1, expires: .latest, roles: roles)
            }
        }
        roles[.targets] = nil
        #expect(throws: VaultError.self) {
            try MetadataDraft.root(version: 1, expires: .latest, roles: roles)
        }
        #expect(throws: VaultError.self) {
            try MetadataDraft.targets(version: 1, expires: .latest, records: [record, record])
        }
        for version in [0, -1, .max] as [Int64] {
            #expect(throws: VaultError.self) {
                try MetadataDraft.targets(version: version, expires: .latest, records: [])
            }
        }
    }

    @Test func unknownMembersAndRolesAreKept() throws {
        let old: JSONObject = [
            "x": [1], "version": 3, "meta": ["levels.json": ["version": 4], "targets.json": ["version": 1]],
        ]
        let reference = MetadataReference(version: 5, bytes: [1])
        let draft = try MetadataDraft.snapshot(
            version: 4, expires: .latest, listing: [.targets: reference], keepingMembersOf: old)
        #expect(draft.signed["x"] == [1])
        let meta = try draft.signed.object("meta", at: "meta")
        #expect(meta["levels.json"] == ["version": 4])
        #expect(try meta.object("targets.json", at: "meta")["version"] == 5)
    }
}

/// The example in the specification, section 4.3.
@Suite struct MetadataKeyIDTests {
    @Test func keyIDsMatchTheSpecification() throws {
        let examples = [
            "72378e5bc588793e58f81c8533da64a2e8f1565c1fcc7f253496394ffc52542c":
                "1bf1c6e3cdd3d3a8420b19199e27511999850f4b376c4547b2f32fba7e80fca3",
            "68ead6e54a43f8f36f9717b10669d1ef0ebb38cee6b05317669341309f1069cb":
                "135c2f50e57ff11e744d234a62cebad8c38daf399604a7655661cc9199c69164",
        ]
        for (hex, id) in examples {
            let digest = try #require(SHA256Digest(hex: hex))
            let raw = digest.bytes
            let key = Ed25519PublicKey(raw: raw.span)
            #expect(key.map { MetadataKey(VerifyingKey($0)).id.description } == id)
        }
    }
}
