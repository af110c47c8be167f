import Foundation
import SystemPackage
import Testing
import UpdateFramework
import VaultBase
import VaultCrypto

/// Delegations exchanged with python-tuf.
@Suite struct PythonTUFDelegationTests {
    private let python = PythonTUF()
    private let now: UTCTime

    init() throws {
        now = try #require(UTCTime(secondsSince1970: Int64(Date().timeIntervalSince1970)))
    }

    @Test func pythonTUFFindsTargetsOfOurDelegatedRoles() async throws {
        let publisher = publisher()
        publisher.delegations = .roles([
            publisher.delegation(to: "team", of: .paths(["levels/*", "maps/?.map"])),
            publisher.delegation(to: "other", of: .paths(["levels/*", "odd/*"]), isTerminating: true),
        ])
        publisher.teams = [
            .init(
                role: "team", records: ["levels/1", "packs/stolen"].map { .of($0, by: "team") },
                delegations: .roles([publisher.delegation(to: "below", of: .paths(["maps/*"]))])),
            .init(role: "below", records: ["maps/a.map", "maps/ab.map"].map { .of($0, by: "below") }),
            .init(role: "other", records: ["levels/1", "levels/2", "odd/é 1"].map { .of($0, by: "other") }),
        ]
        try await publish(publisher, records: [.of("packs/own", by: .targets)])
        for (path, author) in [
            ("packs/own", "targets"), ("levels/1", "team"), ("levels/2", "other"), ("maps/a.map", "below"),
            ("odd/é 1", "other"), ("packs/stolen", nil), ("maps/ab.map", nil),
        ] {
            try expect(publisher, path, author)
        }
    }

    /// Delegation by hash prefixes to one role, which delegates to bins.
    @Test func pythonTUFFindsTargetsInOurBins() async throws {
        let publisher = publisher()
        let key = SigningKey()
        let bins = try #require(
            HashBins(bitLength: 5, namePrefix: "packs", trust: RoleTrust([key.publicKey])))
        let prefixes = (0..<16).map { String($0, radix: 16) }
        publisher.delegations = .roles([publisher.delegation(to: "packs", of: .hashPrefixes(prefixes))])
        publisher.teams = [.init(role: "packs", delegations: .bins(bins))]
        let paths = (0..<40).map { "packs/\($0).avpack" }
        for index in 0..<bins.count {
            let bin = try #require(bins.role(at: index))
            publisher.keys[bin] = key
            let own = paths.filter { bins.index(of: $0) == index }
            publisher.teams.append(.init(role: bin, records: own.map { .of($0, by: bin) }))
        }
        let tree = try await publish(publisher, records: [])
        #expect(tree.records.map(\.path) == paths.sorted())
        for path in ["packs/0.avpack", "packs/17.avpack", "packs/39.avpack"] {
            try expect(publisher, path, bins.role(at: bins.index(of: path))?.name)
        }
        try expect(publisher, "packs/40.avpack", nil)
    }

    @Test(arguments: ["roles", "bins", "nested", "plain"])
    func weFindTargetsOfPythonTUFsDelegatedRoles(_ kind: String) async throws {
        let folder = FilePath("/tmp/assetvault-python-tuf-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: folder.string) }
        let expected = try python.run("make_delegations.py", kind, folder.string)
        let source = MetadataFolder(folder.appending("metadata"))
        let root = try #require(FileManager.default.contents(atPath: "\(source.path)/1.root.json"))
        let client = TestClient()
        let chain = try await client.store.refresh(from: source, trusting: Array(root), now: now)
        let tree = try await client.store.lookup(from: source, now: now).tree(of: chain)
        #expect(tree.refusals.isEmpty, "\(tree.refusals)")
        let found = tree.records.map { ($0.path, JSONValue.string($0.author ?? "")) }
        let listed = try expected.object("found", at: kind)
        #expect(found.map(\.0) == listed.keys)
        for (path, author) in found {
            #expect(listed[path] == author)
            let record = try await client.store.lookup(from: source, now: now).target(at: path, in: chain)
            #expect(record != nil)
            let name = try #require(record.map { chain.hostedPath(of: $0) })
            let content = try #require(FileManager.default.contents(atPath: "\(folder)/targets/\(name)"))
            try record?.check(Array(content))
        }
        for path in try expected.array("missing", at: kind) {
            let path = try path.asString(at: kind)
            #expect(try await client.store.lookup(from: source, now: now).target(at: path, in: chain) == nil)
        }
        // Every signature scheme is used.
        let trusts = TopLevelRole.allCases.map { chain.root.trust(in: $0) }
        let schemes = Set(trusts.flatMap { $0.keys.map(\.key.scheme) })
        #expect(schemes == [.ed25519, .ecdsaP256SHA256, .rsaPSSSHA256])
        #expect(chain.root.usesConsistentSnapshots == (kind != "plain"))
    }

    private func publisher() -> Publisher {
        let publisher = Publisher()
        publisher.now = now
        return publisher
    }

    /// Publishes, with all listed files.
    @discardableResult
    private func publish(_ publisher: Publisher, records: [TargetRecord]) async throws -> TargetTree {
        for record in records + publisher.teams.flatMap(\.records) {
            let file = URL(
                filePath: "\(publisher.path.removingLastComponent())/targets/\(record.hostedPath)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data([1, 2, 3]).write(to: file)
        }
        try await publisher.publish(records: records, at: now)
        return try await TargetTree.verifying(MetadataFolder(publisher.path), pinnedRoot: nil, now: now)
    }

    /// Looks a target up with python-tuf; it must be of this author, or absent.
    private func expect(_ publisher: Publisher, _ path: String, _ author: String?) throws {
        let site = publisher.path.removingLastComponent()
        func ask() throws -> JSONObject {
            try python.run("judge.py", site.string, "\(publisher.path)/1.root.json", path, "\(site)/out")
        }
        guard let author else {
            #expect(throws: PythonTUF.Refusal.self) { try ask() }
            return
        }
        let target = try ask().object("target", at: path)
        #expect(try target.object("custom", at: path)["by"] == .string(author))
    }
}
