import VaultErrors

/// Runs `work`, and cancels it when the time is up: then throws `.busy`, unless it was done all the same.
func withTimeLimit<R: Sendable>(
    _ limit: Duration, at place: String, _ work: @escaping @Sendable () async throws(VaultError) -> R
) async throws(VaultError) -> R {
    let result: Result<R, VaultError> = await withTaskGroup(of: Result<R, VaultError>?.self) { group in
        group.addTask {
            do throws(VaultError) { return .success(try await work()) } catch { return .failure(error) }
        }
        group.addTask {
            try? await Task.sleep(for: limit)
            return nil
        }
        let first = await group.next() ?? nil
        group.cancelAll()
        if let first { return first }
        if case .success(let value)?? = await group.next() { return .success(value) }
        return .failure(
            VaultError(
                .busy, "the time is up", at: place, remedy: "start it again: it goes on where it stopped"))
    }
    return try result.get()
}
