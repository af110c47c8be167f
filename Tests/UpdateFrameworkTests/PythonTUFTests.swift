import Foundation
import SystemPackage
import Testing
import UpdateFramework
import VaultBase
import VaultCrypto

/// Interoperability with python-tuf, in both directions.
///
/// `ASSETVAULT_PYTHON` names a Python with `Tests/Interop/tuf/requirements.txt` installed; `Tests/run.sh` creates one.
@Suite struct PythonTUFTests {
    private let python = PythonTUF()
    private let now: UTCTime

    init() throws {
        now = try #require(UTCTime(secondsSince1970: Int64(Date().timeIntervalSince1970)))
    }

    @Test func pythonTUFRefreshesFromOurSiteAndDownloadsATarget() async throws {
        let publisher = Publisher()
        publisher.now = now
        let site = publisher.path.removingLastComponent()
        let cache = site.appending("cache").string
        try FileManager.default.createDirectory(atPath: cache, withIntermediateDirectories: true)
        let odd: JSONObject = [
            "note": "quote \" backslash \\ control \u{1}\n é e\u{301} 😀", "n": 9_007_199_254_740_991,
        ]
        var records: [TargetRecord] = []
        for (number, path) in ["packs/first.avpack", "packs/deep/er/second.avpack"].enumerated() {
            let content = [UInt8](repeating: UInt8(number), count: 100_000 * number)
            let record = TargetRecord(
                path: path, length: UInt64(content.count), sha256: SHA256.hash(content.span), custom: odd)
            records.append(record)
            let file = URL(filePath: "\(site)/targets/\(record.hostedPath)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(content).write(to: file)
            // The second time with a new root, which has a new timestamp key.
            if number == 1 { publisher.keys[.timestamp] = SigningKey() }
            try await publisher.publish(records: records, root: number == 1, at: now)
            let verdict = try python.run(
                "judge.py", site.string, "\(publisher.path)/1.root.json", path, "\(site)/out", "--cache",
                cache)
            let version = JSONValue.integer(Int64(number) + 1)
            #expect(
                verdict["versions"] == [
                    "root": version, "timestamp": version, "snapshot": version, "targets": version,
                ])
            #expect(verdict["target"] == .object(record.json))
            #expect(FileManager.default.contents(atPath: "\(site)/out") == Data(content))
            // python-tuf must refuse tampered metadata.
            try Data(content + [0]).write(to: file)
            #expect(throws: PythonTUF.Refusal.self) {
                try python.run("judge.py", site.string, "\(publisher.path)/1.root.json", path, "\(site)/out")
            }
        }
    }

    @Test func weRefreshFromARepositoryOfPythonTUF() async throws {
        let folder = "/tmp/assetvault-python-tuf-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try python.run("make_repository.py", folder)
        let (first, second) = (FilePath(folder).appending("first"), FilePath(folder).appending("second"))
        let root = Array(try #require(FileManager.default.contents(atPath: "\(first)/metadata/1.root.json")))
        let client = TestClient()

        var chain = try await client.store.refresh(
            from: MetadataFolder(first.appending("metadata")), trusting: root, now: now)
        #expect(chain.versions == .first)
        #expect(chain.root.trust(in: .targets).threshold == 2)
        #expect(chain.root.trust(in: .targets).keys.count == 4)
        let odd = try #require(chain.targets["packs/odd e\u{301} \u{E9} \u{1F600}.avpack"])
        #expect(odd.length == 0)
        #expect(
            odd.custom?["note"] == "quote \" backslash \\ control \u{1}\u{1F} newline \n é e\u{301} \u{1F600}"
        )

        chain = try await client.store.refresh(from: MetadataFolder(second.appending("metadata")), now: now)
        #expect(chain.versions == .init(root: 2, timestamp: 2, snapshot: 2, targets: 2))
        let record = try #require(chain.targets["packs/second.avpack"])
        let content = try #require(
            FileManager.default.contents(atPath: "\(second)/targets/\(chain.hostedPath(of: record))"))
        #expect(SHA256.hash(Array(content).span) == record.hashes.sha256)

        // The first state is a rollback, and its timestamp key is revoked.
        await client.expectRefusal(of: MetadataFolder(first.appending("metadata")), now: now)
    }
}
