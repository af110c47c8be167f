import Synchronization

/// A value that some tasks change and others wait for.
public final class AwaitableValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var changes = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
    }

    private let state: Mutex<State>

    public init(_ value: Value) { state = Mutex(State(value: value)) }

    public var value: Value { state.withLock { $0.value } }

    /// Changes the value; all waiting tasks look at it again.
    @discardableResult
    public func change<R: Sendable>(_ change: @Sendable (inout Value) -> R) -> R {
        let (result, waiting) = state.withLock { state in
            let result = change(&state.value)
            state.changes += 1
            defer { state.waiting = [:] }
            return (result, Array(state.waiting.values))
        }
        for continuation in waiting { continuation.resume() }
        return result
    }

    /// Waits until `take` returns a result for the value; nil when the task is cancelled before. `take` may change the value when
    /// it returns a result; that change wakes no waiting task. It must not change it when it returns nil.
    public func wait<R: Sendable>(for take: @Sendable (inout Value) -> R?) async -> R? {
        while !Task.isCancelled {
            let (result, changes, number) = state.withLock { state in
                state.next += 1
                return (take(&state.value), state.changes, state.next)
            }
            if let result { return result }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isChanged = state.withLock { state in
                        guard state.changes == changes, !Task.isCancelled else { return true }
                        state.waiting[number] = continuation
                        return false
                    }
                    if isChanged { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
            }
        }
        return nil
    }
}

/// Limits how many tasks do something at a time.
public final class AsyncSemaphore: Sendable {
    private let free: AwaitableValue<Int>

    public init(_ count: Int) { free = AwaitableValue(max(1, count)) }

    /// Runs `body` with a permit. Throws when the task is cancelled before.
    public func withPermit<R>(
        for place: String, _ body: () async throws(VaultError) -> R
    ) async throws(VaultError) -> R {
        try await acquire(for: place)
        defer { release() }
        return try await body()
    }

    /// Waits for a permit, to be released by ``release()``. Throws when the task is cancelled before.
    public func acquire(for place: String) async throws(VaultError) {
        let isAcquired: Bool? = await free.wait { free in
            guard free > 0 else { return nil }
            free -= 1
            return true
        }
        guard isAcquired != nil else { throw VaultError.cancelled(place) }
    }

    public func release() { free.change { $0 += 1 } }
}
