import Sampling
import Testing

@testable import AssetVault

/// Three processes with one store do what they like, are killed, and meet bad hosts and full disks: whatever they get is what a simple
/// model allows.
@Suite(.timeLimit(.minutes(60))) struct RequestModelTests {
    private static let site = Task { try await LevelSite(12) }

    private static let processes = 3
    /// Moves of a round, about; then all must end well.
    private static let moves = Sampling.isWhole ? 200 : 110

    @Test func randomMoves() async throws {
        var random = SeededGenerator(for: "RequestModelTests.randomMoves")
        let site = try await Self.site.value
        let start = ContinuousClock.now
        var count = 0
        for number in 0..<Sampling.rounds(1, whole: 40) {
            var round = try Round(
                RequestWorld(site, processes: Self.processes), processes: Self.processes, number: number)
            while round.count < Self.moves { try await round.step(&random) }
            try await round.end()
            count += round.count
        }
        print("\(count) moves in \(ContinuousClock.now - start)")
    }
}

/// A store from its first to its last use.
private struct Round {
    let world: RequestWorld
    var model: RequestModel
    let number: Int
    private(set) var count = 0
    private var requests = 0
    /// The last steps, for people.
    private var history: [String] = []

    init(_ world: RequestWorld, processes: Int, number: Int) {
        self.world = world
        model = RequestModel(world.site, processes: processes)
        self.number = number
    }

    private func held(by place: Int) -> [RequestModel.Access] { model.accesses.filter { $0.place == place } }

    private mutating func nextName() -> String {
        requests += 1
        return "r\(requests)"
    }

    mutating func step(_ random: inout SeededGenerator) async throws {
        let moves = model.nextMoves(&random)
        let worldMove = model.nextWorldMove(world, &random)
        let order = try await isOrderFixed(moves.map(\.move), worldMove) ? expectedOrder() : nil
        let outcomes = try await perform(moves, worldMove)
        if let order, case .ok(let removed) = outcomes[0].answer {
            try require(
                removed == Array(order.prefix(removed.count)) ? [] : ["\(removed) instead of \(order)"])
        }
        if count % 4 == 0 { try await expectAgreement() }
    }

    /// Lets processes and the world move at once, and holds the result against the model.
    private mutating func perform(
        _ moves: [(place: Int, move: RequestMove)], _ worldMove: WorldMove? = nil
    ) async throws -> [RequestModel.Outcome] {
        let world = world
        let actors = moves.map {
            RequestActor(world: world, place: $0.place, held: held(by: $0.place), name: nextName())
        }
        history.append("\(moves) \(worldMove.map { "\($0)" } ?? "")")
        // Before the step, so that its moves still meet each other.
        for next in moves {
            if case .conditional = next.move { try await world.settle(next.place) }
        }
        let (network, version) = (world.network, world.version)
        let outcomes = try await withThrowingTaskGroup(of: (Int, RequestModel.Outcome).self) { group in
            for (number, actor) in actors.enumerated() {
                let move = moves[number].move
                group.addTask { (number, try await actor.perform(move)) }
            }
            switch worldMove {
            case .publish: world.version = min(version + 1, world.site.count)
            case .network(let network): world.network = network
            case .age(let id, let hours): world.setLastUse(of: id, to: 1_700_000_000 - Int64(hours) * 3600)
            case nil: break
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        count += moves.count + (worldMove == nil ? 0 : 1)
        history.append("    \(outcomes.map(\.answer))")
        let step = RequestModel.Step(
            outcomes: outcomes, ended: ended(by: outcomes),
            isHostBad: !network.isSound || !world.network.isSound, published: version...world.version,
            live: try world.liveVersions())
        try require(model.take(step))
        try await requireContents()
        try requireNotes()
        return outcomes
    }

    private func ended(by outcomes: [RequestModel.Outcome]) -> Set<String> {
        var names: Set<String> = []
        for outcome in outcomes {
            let held = held(by: outcome.place).map(\.name)
            switch outcome.move {
            case .end(let number, _): names.insert(held[number])
            case .kill, .begin(_, .kill, _): names.formUnion(held)
            default: break
            }
        }
        return names
    }

    /// Whether the moves are one purge, and nothing that happens meanwhile changes the order in which packs go.
    private func isOrderFixed(_ moves: [RequestMove], _ worldMove: WorldMove?) -> Bool {
        if case .age = worldMove { return false }
        switch moves.first {
        case .purge, .purgeSome: return moves.count == 1
        default: return false
        }
    }

    /// Fails, and ends the test, where there are objections.
    private func require(_ objections: [String]) throws {
        let story = ([objections.joined(separator: "\n")] + history.suffix(30)).joined(separator: "\n")
        let modules = /(AssetVaultTests\.RequestPeer|AssetVaultTests|VaultBase\.VaultError)\./
        try #require(objections.isEmpty, "in round \(number): \(story.replacing(modules, with: ""))")
    }
}

// MARK: - What the store says

extension Round {
    /// What is in access is there, and is read by its processes: all of it now and then, and else in turns.
    private func requireContents() async throws {
        for (number, access) in model.accesses.enumerated() {
            try require(world.missing(of: access.versions).map { "\(access.name): there is no \($0)" })
            guard count % 16 == 0 || number == count % model.accesses.count else { continue }
            let actor = RequestActor(world: world, place: access.place, held: [], name: "")
            try require(await actor.changes(of: access))
        }
    }

    /// The notes of requests are those of living processes that have access.
    private func requireNotes() throws {
        let notes = try AccessNotes(layout: world.layout).current()
        for place in 0..<world.count {
            let process = world.peer(place).processNumber
            let noted = notes.filter { $0.process.number == process }.map { $0.packs.keys.sorted() }
            let expected = held(by: place).map { $0.versions.keys.sorted() }
            let isSame = noted.sorted(by: isBefore).elementsEqual(expected.sorted(by: isBefore))
            try require(isSame ? [] : ["process \(place) has \(expected), and notes of \(noted)"])
        }
        try require(notes.count == model.accesses.count ? [] : ["\(notes.count) notes"])
    }

    private func isBefore(_ left: [PackID], _ right: [PackID]) -> Bool {
        left.lexicographicallyPrecedes(right)
    }

    /// The order in which packs are purged, as the store predicts it: all purgeable packs.
    private func expectedOrder() async throws -> [String] {
        let store = VaultStore(world.layout)
        let order = try await store.purgeablePacks().map(\.id)
        let able = try await store.usage().packs.filter {
            $0.form != nil && $0.purgeReason != nil && !$0.isInAccess
        }
        try require(Set(able.map(\.id)) == Set(order) ? [] : ["\(order) would go, and \(able.map(\.id)) may"])
        return order.map(\.description)
    }

    /// What `usage` and `status` say is what is there.
    private func expectAgreement() async throws {
        let store = VaultStore(world.layout)
        var objections: [String] = []
        for pack in try await store.usage().packs {
            let holders = model.accesses.filter { $0.versions[pack.id] != nil }
            let isHeld = holders.contains { $0.versions[pack.id] == model.live[pack.id] }
            if pack.isInAccess != isHeld { objections.append("usage: in access: \(pack.isInAccess)") }
            let processes = Set(holders.map { world.peer($0.place).processNumber })
            if Set(pack.processes.map(\.number)) != processes {
                objections.append("usage: \(pack.processes)")
            }
        }
        for pack in try await store.status() where pack.loadedVersion != model.live[pack.id] {
            objections.append("status of \(pack.id): \(pack.loadedVersion ?? 0)")
        }
        try require(objections)
    }
}

// MARK: - The end

extension Round {
    /// When all is well again everybody gets everything, and nothing is left behind.
    mutating func end() async throws {
        (world.network, world.version) = (.good, world.site.count)
        let all = 0..<world.count
        _ = try await perform(all.map { ($0, .disk(.plain)) })
        for place in all {
            while !held(by: place).isEmpty {
                _ = try await perform([(place, .end(0, byDropping: place == 0))])
            }
        }
        for level in LevelSite.levels {
            let outcomes = try await perform(all.map { ($0, .begin([level], .none, milliseconds: 0)) })
            try require(outcomes.contains { $0.begun == nil } ? ["not everybody got \(level)"] : [])
            _ = try await perform(all.map { ($0, .end(0, byDropping: $0 == 1)) })
        }
        _ = try await perform([(0, .update([]))])
        try await expectAgreement()
        let states = try await VaultStore(world.layout).status().filter { $0.state != .loaded }
        try require(states.map { "\($0.id) is \($0.state)" })
        _ = try await perform([(1, .purge)])
        for place in all { await world.peer(place).quit() }
        // A process that ended leaves the note of what it requested to the next one that looks.
        _ = try await VaultStore(world.layout).usage()
        let left = try world.names().filter { name in
            name.contains(".assetvault-") || name.hasPrefix("ephemeral/") && name != "ephemeral/"
                || ["@work/", "@access/", "@held/"].contains {
                    name.contains("/" + $0) && !name.hasSuffix("/" + $0)
                }
        }
        try require(left)
    }
}
