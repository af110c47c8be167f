import FaultServer
import Testing

/// Whether packs are opened or kept sealed, and who decides.
struct PackFormTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    private func publishNext(_ version: Int) async throws {
        try folder.write("level/file", "version \(version)")
        try await testSite.publish()
    }

    private func expect(
        _ form: String, version: Int64, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let status = try await testSite.status()["level"]
        #expect(status?.form == form && status?.version == version, sourceLocation: location)
    }

    @Test(arguments: ["opened", "sealed"]) func theChosenFormIsKept(form: String) async throws {
        try await testSite.fetch(nil, "--\(form)").succeeded()
        try await testSite.fetch().succeeded()
        try await expect(form, version: 1)
        try await publishNext(2)
        try await testSite.fetch().succeeded()
        try await expect(form, version: 2)
        // Also with a downloader and a key that comes later.
        try await publishNext(3)
        try await testSite.fetch(withKeys: false).succeeded()
        try await Command.run(["unlock", "--store", testSite.store] + testSite.keys).succeeded()
        try await expect(form, version: 3)
    }

    /// A sealed pack is opened in place, and fetched again only if damaged.
    @Test(arguments: [false, true]) func openedFromTheSealedPack(isDamaged: Bool) async throws {
        try await testSite.fetch(nil, "--sealed").succeeded()
        if isDamaged {
            let name = try #require(
                testSite.files(in: "permanent/level").first { $0.hasSuffix(".avpack") })
            var bytes = try folder.bytes("store/permanent/level/\(name)")
            bytes[bytes.count / 2] ^= 1
            try folder.write("store/permanent/level/\(name)", bytes)
        }
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url, "--opened").succeeded()
        try await expect("opened", version: 1)
        #expect(server.packs.isEmpty == !isDamaged)
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        try await testSite.fetch(nil, "--opened", withKeys: false).failed(64, naming: "--keys")
    }

    enum Loss: CaseIterable { case never, file, removed, record }

    /// Whatever happens to the pack, and although the key comes later.
    @Test(arguments: Loss.allCases) func aPackToBeKeptSealedIsNeverOpened(loss: Loss) async throws {
        if loss == .never {
            try await testSite.fetch(nil, "--sealed", withKeys: false).succeeded()
            try await Command.run(["unlock", "--store", testSite.store] + testSite.keys).succeeded()
            return try await expect("sealed", version: 1)
        }
        try await testSite.fetch(nil, "--sealed").succeeded()
        switch loss {
        case .never: break
        case .file:
            let name = try #require(
                testSite.files(in: "permanent/level").first { $0.hasSuffix(".avpack") })
            try await Tool.run("rm", folder["store/permanent/level/\(name)"])
        case .removed: try await Command.run("remove", "level", "--store", testSite.store).succeeded()
        case .record: try folder.write("store/permanent/@state/level/@record.json", "{}")
        }
        try await testSite.fetch(nil, "level").succeeded()
        try await expect("sealed", version: 1)
    }

    @Test func aFormRequestThatFailedIsKept() async throws {
        try await testSite.fetch().succeeded()
        let server = try FaultServer(testSite.site) { $0.isForPack ? .status(404) : .file }
        try await testSite.fetch(server.url, "--sealed").failed(72, naming: server.url)
        try await testSite.fetch().succeeded()
        try await expect("opened", version: 1)
        try await publishNext(2)
        try await testSite.fetch().succeeded()
        try await expect("sealed", version: 2)
    }

    @Test func removalKeepsTheFormDespiteADamagedRecord() async throws {
        try await testSite.fetch(nil, "--sealed").succeeded()
        try folder.write("store/permanent/@state/level/@record.json", "{}")
        try await Command.run("remove", "level", "--store", testSite.store).succeeded()
        try await testSite.fetch(nil, "level").succeeded()
        try await expect("sealed", version: 1)
    }

    @Test func unlockOfADamagedSealedPack() async throws {
        try await testSite.fetch(nil, "--sealed").succeeded()
        let name = try #require(testSite.files(in: "permanent/level").first { $0.hasSuffix(".avpack") })
        var bytes = try folder.bytes("store/permanent/level/\(name)")
        bytes[bytes.count / 2] ^= 1
        try folder.write("store/permanent/level/\(name)", bytes)
        try await Command.run(["unlock", "--opened", "--store", testSite.store] + testSite.keys)
            .failed(65, naming: "level")
    }

    /// Only the key is needed.
    @Test func unlockOpensTheSealedPack() async throws {
        try await testSite.fetch(nil, "--sealed").succeeded()
        let unlock = ["unlock", "--store", testSite.store] + testSite.keys
        try await Command.run(unlock).succeeded()
        try await expect("sealed", version: 1)
        try await Command.run(unlock + ["--opened"]).succeeded()
        try await expect("opened", version: 1)
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        try await testSite.fetch().succeeded()
        try await expect("opened", version: 1)
    }

    @Test func theFormChangesByRequestOnly() async throws {
        try await testSite.fetch().succeeded()
        try await expect("opened", version: 1)
        for form in ["sealed", "opened", "sealed"] {
            try await testSite.fetch(nil, "--\(form)").succeeded()
            try await expect(form, version: 1)
        }
        try await publishNext(2)
        try await testSite.fetch(nil, "--opened").succeeded()
        try await expect("opened", version: 2)
        try await testSite.fetch(nil, "--sealed", "--opened").failed(64, naming: "--opened")
    }
}
