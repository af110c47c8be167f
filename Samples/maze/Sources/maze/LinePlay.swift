import AssetVault

/// The game for scripts: moves come from a file or a pipe. Standard output is the same each time, whatever the network does;
/// download progress goes to standard error.
@MainActor struct LinePlay {
    let game: Game
    /// Between two moves.
    let pace: Duration
    /// How long to wait for the key of a level.
    let patience: Duration

    func run(_ moves: AsyncStream<Character>) async throws(VaultError) {
        let updates = game.packs.client.statusUpdates
        let reporting = Task {
            var progress = Progress()
            for await update in updates where progress.take(update) {
                Console.note(progress.line ?? "")
            }
        }
        defer { reporting.cancel() }
        tell(try await game.introduction())
        var next = upcoming()
        var keys = moves.makeAsyncIterator()
        while true {
            if game.isAtExit {
                guard let level = game.next else {
                    return tell(["== the end, with \(game.journey.coins) coins"])
                }
                try await wait(for: level, next)
                tell(try await game.advance())
                next = upcoming()
            }
            guard let key = await keys.next() else { break }
            tell(try await game.press(key))
            if pace > .zero { try? await Task.sleep(for: pace) }
        }
        tell(["== stopped at step \(game.journey.steps)"])
    }

    /// The next level is prepared while this one is played.
    private func upcoming() -> Task<Result<Void, VaultError>, Never>? {
        guard let level = game.next else { return nil }
        let packs = game.packs
        return Task {
            do throws(VaultError) { return .success(try await packs.prepare(level)) } catch {
                return .failure(error)
            }
        }
    }

    private func wait(for level: Level, _ preparing: Task<Result<Void, VaultError>, Never>?)
        async throws(VaultError)
    {
        do throws(VaultError) {
            try await preparing?.value.get()
        } catch {
            guard error.category == .key else { throw error }
            tell(["the gate to \(level.id) is locked"])
            try await game.packs.prepare(level, patience: patience)
            tell(["the gate opens"])
        }
    }

    private func tell(_ lines: [String]) {
        for line in lines { Console.answer(line) }
    }
}
