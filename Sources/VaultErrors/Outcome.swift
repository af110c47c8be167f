/// The outcome of asynchronous work, as a value.
public func outcome<Value>(
    of work: () async throws(VaultError) -> Value
) async -> Result<Value, VaultError> {
    do throws(VaultError) { return .success(try await work()) } catch { return .failure(error) }
}
