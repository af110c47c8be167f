import FaultServer
import Foundation
import Sampling
import Testing

/// Every kind of fault, once and always, with and without a partial download: the new version is complete, or the old
/// one stays.
@Suite(.timeLimit(.minutes(10))) struct NetworkFaultTests {
    let world: World
    private let pack: PackOnSite
    private let mirror: FaultServer
    private let old: Tree
    private let new: Tree

    /// Both stores have version 1, `store-partial` also the first half of version 2, which is on the site.
    init() async throws {
        world = try await World()
        try world.write("authority.pem", TestCertificate.certificate)
        try world.write("level/file", "version 1")
        try world.write("other/noise", Bytes.random(300_000, seed: 2))
        try await world.publish("--pack level=$WORK/level --pack other=$WORK/other")
        try await world.copy("level", to: "old-level")
        old = try Tree(world["old-level"])
        try await world.fetch("level", into: world["store-fresh"]).succeeded()
        try world.write("level/file", "version 2")
        try world.write("level/noise", Bytes.random(400_000, seed: 1))
        try await world.publish()
        new = try Tree(world["level"])
        mirror = try FaultServer(world.site)
        pack = try PackOnSite(
            size: world.publishedBytes(of: "level").count,
            other: world.publishedBytes(of: "other"), mirror: mirror.url)

        try await world.copy("store-fresh", to: "store-partial")
        let dying = try FaultServer.dying(world.site, after: pack.size / 2)
        try await world.fetch("level", from: dying.url, into: world["store-partial"]).failed(69)
        #expect(dying.packBytes > pack.size / 2 && dying.packBytes < pack.size)
    }

    /// In a sample each fault in one way.
    private var cases: [Case] {
        NetworkFault.all.flatMap { fault in
            [true, false].flatMap { isLasting in
                ["fresh", "partial"].map { Case(fault: fault, isLasting: isLasting, start: $0) }
            }.sample(1, for: fault.name)
        }
    }

    private struct Case: Sendable {
        let fault: NetworkFault
        let isLasting: Bool
        let start: String

        var name: String { "\(fault.name), \(isLasting ? "always" : "once"), \(start)" }
        var codes: Set<Int32> { isLasting ? fault.always : fault.once }
    }

    @Test func oldOrNewWhateverHappens() async throws {
        #expect(NetworkFault.all.count >= 25)
        var cases = cases[...]
        // Most of the time of a case is waiting.
        try await withThrowingTaskGroup { group in
            for next in cases.prefix(32) { group.addTask { try await examine(next) } }
            cases = cases.dropFirst(32)
            while try await group.next() != nil {
                if let next = cases.popFirst() { group.addTask { try await examine(next) } }
            }
        }
    }

    /// A faulty server, and how often it failed.
    private func server(for test: Case) throws -> (FaultServer, @Sendable () -> Int) {
        let met = Counter()
        let (fault, isLasting, pack) = (test.fault, test.isLasting, pack)
        let server = try FaultServer(world.site, secure: fault.isSecure) { request in
            guard request.isForPack else { return .file }
            if fault.isOfParts, request.range == nil {
                return isLasting || request.earlier == 0 ? .cut(after: pack.size / 2) : .file
            }
            return met.next() == 1 || isLasting ? fault.answer(request, pack) : .file
        }
        return (server, { met.count })
    }

    private func examine(_ test: Case) async throws {
        let store = world["store \(test.name)"]
        try await world.copy("store-\(test.start)", to: store)
        let before = try Tree("\(store)/permanent").packs
        let (server, met) = try server(for: test)
        let security = test.fault.isSecure ? ["--ca-file", world["authority.pem"]] : []
        // A fetch that doesn't end is ended, with code 124.
        let result = try await world.run(
            "fetch \(server.url) level --store \(store) $KEYS \(security) \(test.fault.arguments)",
            through: ["timeout", "600"])
        #expect(test.codes.contains(result.exitCode), "\(test.name): \(result.exitCode) \(result.errorText)")
        #expect(met() > 0, "\(test.name)")
        if result.exitCode != 0 {
            result.failed(result.exitCode, naming: server.url)
            // Nothing of it is among the verified packs.
            #expect(try Tree("\(store)/permanent").packs == before, "\(test.name)")
            #expect(try packs(of: store) == [], "\(test.name)")
            #expect(try await world.tree(of: "level", in: store) == old, "\(test.name)")
            let status = try await world.status(of: store)["level"]
            #expect(status?.state == "failed" && status?.version == 1, "\(test.name)")
            try await world.fetch("level", from: mirror.url, into: store).succeeded()
        }
        #expect(try await world.tree(of: "level", in: store) == new, "\(test.name)")
        #expect(try await world.status(of: store)["level"]?.state == "loaded", "\(test.name)")
        #expect(try packs(of: store) == [], "\(test.name)")
        try FileManager.default.removeItem(atPath: store)
    }

    /// What lies in `shared/packs`, under whatever name.
    private func packs(of store: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: "\(store)/shared/packs") else { return [] }
        return try world.files(in: "shared/packs", of: store)
    }
}
