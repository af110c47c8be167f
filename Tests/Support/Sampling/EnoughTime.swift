/// No time limit sufficed for what comes before the limit is to matter.
struct NotEnoughTime: Error {}

/// Runs `body` with a short time limit, and again with longer ones as long as it returns nil: the machine was too slow to come to
/// what is tested.
public func withEnoughTime<Value>(_ body: (Duration) async throws -> Value?) async throws -> Value {
    for seconds in [2, 8, 32] {
        if let value = try await body(.seconds(seconds)) { return value }
    }
    throw NotEnoughTime()
}
