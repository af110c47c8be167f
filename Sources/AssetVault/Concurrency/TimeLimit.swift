import VaultErrors

/// Runs `work`, and cancels it when the time is up: then throws `.busy`, unless it was complete by then.
func withTimeLimit<R: Sendable>(
    _ limit: Duration, at place: String, _ work: @escaping @Sendable () async throws(VaultError) -> R
) async throws(VaultError) -> R {
    let result = await run(until: { try? await Task.sleep(for: limit) }, work)
    if let result { return try result.get() }
    if Task.isCancelled { throw VaultError.cancelled(place) }
    throw .timeIsUp(at: place)
}

extension VaultError {
    static func timeIsUp(_ more: String = "", at place: String) -> VaultError {
        VaultError(
            .busy, "the time is up\(more)", at: place, remedy: "start it again: it goes on where it stopped")
    }
}
