import FaultServer
import Sampling
import Testing

/// Eight processes with one store while versions are published: their results fit one sequential history.
@Suite(.timeLimit(.minutes(20))) struct SharedStoreHistoryTests {
    private let seconds = Double(Sampling.rounds(8, whole: 60))
    private let sites: PreparedSites
    private let server: FaultServer
    private let history = StoreHistory()
    private let user: StoreUser

    init() async throws {
        let packs = ["alpha": 3 << 18, "beta": 90 << 10, "gamma": 300]
        sites = try await PreparedSites(8, packs: packs)
        server = try FaultServer(sites.live) { request in
            guard request.isForPack else { return .file }
            return .changed { $0.pace = (64 << 10, .milliseconds(2)) }
        }
        user = StoreUser(
            sites: sites, url: server.url, store: sites.world.store, history: history,
            packs: packs.keys.sorted())
    }

    /// Each process does one of its operations after the other, each with a pack of its choice.
    private var roles: [@Sendable (String, inout SeededGenerator) -> StoreHistory.Operation] {
        [
            { _, _ in .fetch(id: nil, withKeys: true) }, { id, _ in .fetch(id: id, withKeys: true) },
            { _, _ in .fetch(id: nil, withKeys: false) }, { _, _ in .downloader }, { _, _ in .unlock },
            { id, random in Int.random(in: 0..<3, using: &random) == 0 ? .remove(id) : .path(id) },
            { _, _ in .status }, { id, _ in .read(id) },
        ]
    }

    @Test func eightProcesses() async throws {
        let (user, sites) = (user, sites)
        // Using a store that does not exist yet is an error.
        try sites.world.makeFolder("store")
        let clock = ContinuousClock()
        let (start, whole) = (clock.now, Duration.seconds(seconds))
        let end = start + whole
        try await withThrowingTaskGroup { group in
            for (number, role) in roles.enumerated() {
                group.addTask {
                    var random = SeededGenerator(for: "eightProcesses \(number)")
                    while clock.now < end {
                        guard let id = user.packs.randomElement(using: &random) else { return }
                        try await user.run(role(id, &random))
                        try await clock.sleep(for: .milliseconds(20))
                    }
                }
            }
            group.addTask {
                for version in 2...sites.count {
                    try await clock.sleep(until: start + whole * (version - 1) / sites.count)
                    try sites.publish(version)
                }
            }
            try await group.waitForAll()
        }
        for id in user.packs { try await user.run(.read(id)) }
        #expect(history.contradictions == [])
        try await expectEnd()
        report()
    }

    private func expectEnd() async throws {
        try await sites.world.fetch("--all", from: server.url).succeeded()
        for id in user.packs {
            try StoreContent(loaded: UInt64(sites.count)).expect(of: id, in: user.store, id)
            try await user.run(.read(id))
        }
        #expect(
            history.events.suffix(user.packs.count).allSatisfy { $0.versions.values.first == sites.count })
    }

    private func report() {
        let codes = Dictionary(grouping: history.events, by: \.exitCode).mapValues(\.count)
        let sights = history.events.reduce(0) { $0 + $1.versions.count }
        print("\(history.events.count) operations by exit code \(codes), \(sights) sights of versions")
    }
}
