/// Runs `work` until `interruption` returns, which cancels it. Nil when it was interrupted before its
/// end; a result that was complete by then counts.
public func run<R: Sendable>(
    until interruption: @escaping @Sendable () async -> Void,
    _ work: @escaping @Sendable () async throws(VaultError) -> R
) async -> Result<R, VaultError>? {
    await withTaskGroup(of: Result<R, VaultError>?.self) { group in
        group.addTask {
            do throws(VaultError) { return .success(try await work()) } catch { return .failure(error) }
        }
        group.addTask {
            await interruption()
            return nil
        }
        let first = await group.next() ?? nil
        group.cancelAll()
        if let first { return first }
        guard case .success(let value)?? = await group.next() else { return nil }
        return .success(value)
    }
}

/// Runs `work`, and cancels it when the time is up: then throws `.busy`, unless it was complete by then. Nil sets no
/// limit.
public func withTimeLimit<R: Sendable>(
    _ limit: Duration?, at place: String, _ work: @escaping @Sendable () async throws(VaultError) -> R
) async throws(VaultError) -> R {
    guard let limit else { return try await work() }
    let result = await run(until: { try? await Task.sleep(for: limit) }, work)
    if let result { return try result.get() }
    if Task.isCancelled { throw VaultError.cancelled(place) }
    throw .timeIsUp(at: place)
}

/// Waits. Throws when the task is cancelled.
public func pause(for time: Duration, at place: String) async throws(VaultError) {
    do { try await Task.sleep(for: time) } catch { throw VaultError.cancelled(place) }
}

extension VaultError {
    public static func timeIsUp(_ more: String = "", at place: String) -> VaultError {
        VaultError(
            .busy, "the time is up\(more)", at: place, remedy: "start it again: it continues where it stopped"
        )
    }
}
