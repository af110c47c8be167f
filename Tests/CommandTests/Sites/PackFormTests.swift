import FaultServer
import Testing

/// Whether packs are opened or kept sealed, and who decides.
struct PackFormTests {
    let workshop: Workshop
    let folder: TemporaryFolder

    init() async throws {
        workshop = try await Workshop()
        folder = workshop.folder
        try folder.write("level/file", "version 1")
        try await workshop.publish("--pack", "level=\(folder["level"])")
    }

    private func publishNext(_ version: Int) async throws {
        try folder.write("level/file", "version \(version)")
        try await workshop.publish()
    }

    private func expect(
        _ form: String, version: Int64, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let status = try await workshop.status()["level"]
        #expect(status?.form == form && status?.version == version, sourceLocation: location)
    }

    @Test(arguments: ["opened", "sealed"]) func theChosenFormIsKept(form: String) async throws {
        try await workshop.fetch(nil, "--\(form)").succeeded()
        try await workshop.fetch().succeeded()
        try await expect(form, version: 1)
        try await publishNext(2)
        try await workshop.fetch().succeeded()
        try await expect(form, version: 2)
        // Also with a downloader and a key that comes later.
        try await publishNext(3)
        try await workshop.fetch(withKeys: false).succeeded()
        try await Command.run(["unlock", "--store", workshop.store] + workshop.keys).succeeded()
        try await expect(form, version: 3)
    }

    /// A sealed pack is opened in place, and fetched again only if damaged.
    @Test(arguments: [false, true]) func openedFromTheSealedPack(isDamaged: Bool) async throws {
        try await workshop.fetch(nil, "--sealed").succeeded()
        if isDamaged {
            let name = try #require(
                workshop.files(in: "permanent/level").first { $0.hasSuffix(".avpack") })
            var bytes = try folder.bytes("store/permanent/level/\(name)")
            bytes[bytes.count / 2] ^= 1
            try folder.write("store/permanent/level/\(name)", bytes)
        }
        let server = try FaultServer(workshop.site)
        try await workshop.fetch(server.url, "--opened").succeeded()
        try await expect("opened", version: 1)
        #expect(server.packs.isEmpty == !isDamaged)
        #expect(try await workshop.tree(of: "level") == Tree(folder["level"]))
        try await workshop.fetch(nil, "--opened", withKeys: false).failed(64, naming: "--keys")
    }

    enum Loss: CaseIterable { case never, file, removed, record }

    /// Whatever happens to the pack, and although the key comes later.
    @Test(arguments: Loss.allCases) func aPackToBeKeptSealedIsNeverOpened(loss: Loss) async throws {
        if loss == .never {
            try await workshop.fetch(nil, "--sealed", withKeys: false).succeeded()
            try await Command.run(["unlock", "--store", workshop.store] + workshop.keys).succeeded()
            return try await expect("sealed", version: 1)
        }
        try await workshop.fetch(nil, "--sealed").succeeded()
        switch loss {
        case .never: break
        case .file:
            let name = try #require(
                workshop.files(in: "permanent/level").first { $0.hasSuffix(".avpack") })
            try await Tool.run("rm", folder["store/permanent/level/\(name)"])
        case .removed: try await Command.run("remove", "level", "--store", workshop.store).succeeded()
        case .record: try folder.write("store/permanent/@state/level/@record.json", "{}")
        }
        try await workshop.fetch(nil, "level").succeeded()
        try await expect("sealed", version: 1)
    }

    @Test func aFormRequestThatFailedIsKept() async throws {
        try await workshop.fetch().succeeded()
        let server = try FaultServer(workshop.site) { $0.isForPack ? .status(404) : .file }
        try await workshop.fetch(server.url, "--sealed").failed(69, naming: server.url)
        try await workshop.fetch().succeeded()
        try await expect("opened", version: 1)
        try await publishNext(2)
        try await workshop.fetch().succeeded()
        try await expect("sealed", version: 2)
    }

    @Test func removalKeepsTheFormDespiteADamagedRecord() async throws {
        try await workshop.fetch(nil, "--sealed").succeeded()
        try folder.write("store/permanent/@state/level/@record.json", "{}")
        try await Command.run("remove", "level", "--store", workshop.store).succeeded()
        try await workshop.fetch(nil, "level").succeeded()
        try await expect("sealed", version: 1)
    }

    @Test func unlockOfADamagedSealedPack() async throws {
        try await workshop.fetch(nil, "--sealed").succeeded()
        let name = try #require(workshop.files(in: "permanent/level").first { $0.hasSuffix(".avpack") })
        var bytes = try folder.bytes("store/permanent/level/\(name)")
        bytes[bytes.count / 2] ^= 1
        try folder.write("store/permanent/level/\(name)", bytes)
        try await Command.run(["unlock", "--opened", "--store", workshop.store] + workshop.keys)
            .failed(65, naming: "level")
    }

    /// Only the key is needed.
    @Test func unlockOpensTheSealedPack() async throws {
        try await workshop.fetch(nil, "--sealed").succeeded()
        let unlock = ["unlock", "--store", workshop.store] + workshop.keys
        try await Command.run(unlock).succeeded()
        try await expect("sealed", version: 1)
        try await Command.run(unlock + ["--opened"]).succeeded()
        try await expect("opened", version: 1)
        #expect(try await workshop.tree(of: "level") == Tree(folder["level"]))
        try await workshop.fetch().succeeded()
        try await expect("opened", version: 1)
    }

    @Test func theFormChangesByRequestOnly() async throws {
        try await workshop.fetch().succeeded()
        try await expect("opened", version: 1)
        for form in ["sealed", "opened", "sealed"] {
            try await workshop.fetch(nil, "--\(form)").succeeded()
            try await expect(form, version: 1)
        }
        try await publishNext(2)
        try await workshop.fetch(nil, "--opened").succeeded()
        try await expect("opened", version: 2)
        try await workshop.fetch(nil, "--sealed", "--opened").failed(64, naming: "--opened")
    }
}
