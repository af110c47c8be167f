import VaultErrors

/// Runs `work` until `interruption` returns, which cancels it. Nil when it was interrupted before its
/// end; a result that was complete by then counts.
func run<R: Sendable>(
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
