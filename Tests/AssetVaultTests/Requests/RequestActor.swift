import AssetVault

/// Lets one process do a move, and finds out what came of it.
struct RequestActor: Sendable {
    let world: RequestWorld
    let place: Int
    /// The accesses of the process before.
    let held: [RequestModel.Access]
    /// For the request that the move may make.
    let name: String

    func perform(_ move: RequestMove) async throws -> RequestModel.Outcome {
        let peer = world.peer(place)
        var outcome = RequestModel.Outcome(place: place, move: move, answer: .none)
        switch move {
        case .begin(let tags, let twist, let milliseconds):
            try await begin(tags, twist, milliseconds, &outcome)
        case .conditional(let tags):
            let count = world.requestCount(of: place)
            outcome.answer = await peer.ask(["conditional", name] + tags.sorted())
            outcome.requestCount = world.requestCount(of: place) - count
            if outcome.answer.isOK { outcome.begun = await access(to: tags) }
        case .end(let number, let byDropping):
            outcome.answer = await peer.ask(byDropping ? "drop" : "end", held[number].name)
        case .beginAgain(let number):
            outcome.answer = await peer.ask("begin", held[number].name)
        case .purge: outcome.answer = await peer.ask("purge")
        case .purgeSome:
            outcome.answer = await peer.ask("purge", "\(try world.freeBytes() + 30_000)")
        case .update(let tags): outcome.answer = await peer.ask(["update"] + tags.sorted())
        case .disk(.plain): outcome.answer = await peer.ask("disk")
        case .disk(.tight):
            outcome.answer = await peer.ask("disk", "\(try world.freeBytes() + 60_000)")
        case .disk(.full): outcome.answer = await peer.ask("disk", "\(UInt64.max / 2)")
        case .kill: try await restart(peer)
        }
        return outcome
    }

    private func begin(
        _ tags: Set<String>, _ twist: RequestMove.Twist, _ milliseconds: Int,
        _ outcome: inout RequestModel.Outcome
    ) async throws {
        let peer = world.peer(place)
        let reply = peer.send(["begin", name] + tags.sorted())
        func wait() async throws { try await Task.sleep(for: .milliseconds(milliseconds)) }
        switch twist {
        case .none: break
        case .priorities:
            _ = await peer.ask("priority", name, "urgent")
            try await wait()
            _ = await peer.ask("priority", name, "0.1")
        case .pause:
            _ = await peer.ask("pause", name)
            try await wait()
            _ = await peer.ask("resume", name)
        case .cancel:
            try await wait()
            _ = await peer.ask("cancel", name)
        case .end:
            try await wait()
            _ = await peer.ask("end", name)
        case .kill:
            try await wait()
            try await restart(peer)
        }
        outcome.answer = await reply.answer
        guard outcome.answer.isOK, twist != .end, twist != .kill else { return }
        outcome.begun = await access(to: tags)
    }

    private func restart(_ peer: RequestPeer) async throws {
        await peer.kill()
        try world.restart(place)
    }

    /// What it reads now must stay.
    private func access(to tags: Set<String>) async -> RequestModel.Access {
        let packs = world.site.packs(of: tags)
        let digests = await digests(of: name, packs.map(\.id))
        var versions: [PackID: UInt64] = [:]
        var rest = digests[...]
        for pack in packs {
            // 0 for what no version has.
            versions[pack.id] = pack.version(with: Array(rest.prefix(pack.paths.count))) ?? 0
            rest = rest.dropFirst(pack.paths.count)
        }
        return RequestModel.Access(place: place, name: name, versions: versions, digests: digests)
    }

    private func digests(of name: String, _ ids: [PackID]) async -> [String] {
        let paths = ids.compactMap { world.site.packs[$0]?.paths }.flatMap(\.self)
        guard case .ok(let digests) = await world.peer(place).ask(["read", name] + paths) else { return [] }
        return digests
    }

    /// Reads all that one of its requests has in access again; returns what has changed.
    func changes(of access: RequestModel.Access) async -> [String] {
        let digests = await digests(of: access.name, access.versions.keys.sorted())
        return digests == access.digests ? [] : ["what \(access.name) has in access has changed"]
    }
}
