import VaultErrors

/// Lets so many tasks at a time do something.
final class AsyncSemaphore: Sendable {
    private let free: AwaitableValue<Int>

    init(_ count: Int) { free = AwaitableValue(max(1, count)) }

    /// Runs `body` when it is its turn. Throws when the task is cancelled before.
    func take<R>(
        for place: String, _ body: () async throws(VaultError) -> R
    ) async throws(VaultError) -> R {
        try await take(for: place)
        defer { giveBack() }
        return try await body()
    }

    /// Waits for a turn, which is then given back. Throws when the task is cancelled before.
    func take(for place: String) async throws(VaultError) {
        let isMine: Bool? = await free.wait { free in
            guard free > 0 else { return nil }
            free -= 1
            return true
        }
        guard isMine != nil else { throw VaultError.cancelled(place) }
    }

    func giveBack() { free.change { $0 += 1 } }
}
