/// The next input of a pipeline.
public enum NextInput<Input> {
    case input(Input)
    /// `read` must run before the next input is available.
    case readFirst
    case end

    /// Nil means the end.
    public init(_ input: Input?) { self = input.map(Self.input) ?? .end }
}

/// Runs `work` on several inputs at once and delivers the results in the order of the inputs.
///
/// At most `width` inputs, or as many as `limit` says, are started and not delivered, and as many as fit the
/// budget, but at least one, so memory is bounded. One more input is read meanwhile: a sender is not kept waiting for work on
/// what it sent. `next` and `deliver` run one at a time in the caller's task; `next` is not called again after the end. The error
/// of the earliest failed input ends the pipeline.
///
/// - Parameters:
///   - budget: the bytes of memory for the work on all inputs.
///   - read: runs after `.readFirst`, before the next call of `next`, in its own task so that results are delivered
///     meanwhile. It is cancelled when the pipeline ends.
///   - limit: of the inputs at once, beside `width`; nil for work that waits for others and needs no processor.
///   - memory: an estimate of the most bytes that the work on an input needs.
public func runInOrder<Input: Sendable, Output: Sendable>(
    width: Int = 8, budget: Int = 48 << 20, limit: Parallelism.Limit? = Parallelism.limit,
    read: @escaping @Sendable () async -> Void = {},
    next: () async throws(VaultError) -> NextInput<Input>,
    memory: (Input) -> Int,
    work: @escaping @Sendable (Input) async throws(VaultError) -> Output,
    deliver: (Output) async throws(VaultError) -> Void
) async throws(VaultError) {
    let result: Result<Void, VaultError> = await withTaskGroup(of: PipelineEvent<Output>.self) { group in
        var started = 0
        var delivered = 0
        var pending: Input?
        var isReading = false
        var isAtEnd = false
        var waiting: [Int: Result<Output, VaultError>] = [:]
        var budget = MemoryBudget(limit: budget)
        func receive() async throws(VaultError) {
            switch await group.next() {
            case .worked(let number, let result): waiting[number] = result
            case .read: isReading = false
            case nil: return
            }
            while let result = waiting.removeValue(forKey: delivered) {
                delivered += 1
                budget.releaseFirst()
                try await deliver(result.get())
            }
        }
        /// Starts the work on the next input. False where none may be started now.
        func start() async throws(VaultError) -> Bool {
            if Task.isCancelled { throw VaultError.cancelled("task") }
            if pending == nil, !isAtEnd {
                switch try await next() {
                case .input(let input): pending = input
                case .readFirst:
                    isReading = true
                    group.addTask {
                        await read()
                        return .read
                    }
                    return false
                case .end: isAtEnd = true
                }
            }
            guard let input = pending, started - delivered < min(width, limit?.width ?? .max),
                budget.reserve(memory(input))
            else { return false }
            pending = nil
            let number = started
            started += 1
            group.addTask {
                .worked(number, await outcome { () throws(VaultError) in try await work(input) })
            }
            return true
        }
        do throws(VaultError) {
            while true {
                while !isReading, try await start() {}
                guard isReading || delivered < started else { return .success(()) }
                try await receive()
            }
        } catch {
            group.cancelAll()
            return .failure(error)
        }
    }
    try result.get()
}

/// The same for inputs that are all known.
public func runInOrder<Input: Sendable, Output: Sendable>(
    _ inputs: some Sequence<Input>, width: Int = 8, memory: (Input) -> Int = { _ in 0 },
    work: @escaping @Sendable (Input) async throws(VaultError) -> Output,
    deliver: (Output) async throws(VaultError) -> Void
) async throws(VaultError) {
    var inputs = inputs.makeIterator()
    try await runInOrder(
        width: width, next: { NextInput(inputs.next()) }, memory: memory, work: work, deliver: deliver)
}

/// The result of a task of the pipeline.
private enum PipelineEvent<Output: Sendable>: Sendable {
    case worked(Int, Result<Output, VaultError>)
    case read
}

/// The memory of the inputs that are not delivered, in their order.
private struct MemoryBudget {
    private let limit: Int
    private var reserved: ArraySlice<Int> = []
    private var total = 0

    init(limit: Int) { self.limit = limit }

    mutating func reserve(_ bytes: Int) -> Bool {
        guard reserved.isEmpty || bytes <= limit - total else { return false }
        reserved.append(bytes)
        total += bytes
        return true
    }

    mutating func releaseFirst() { total -= reserved.removeFirst() }
}

/// How many tasks a pipeline of the current task may run at a time, where a caller leaves processors to others.
public enum Parallelism {
    /// A limit that may change while a pipeline runs: it is asked again for each input.
    public final class Limit: Sendable {
        let current: @Sendable () -> Int

        public init(_ current: @escaping @Sendable () -> Int) { self.current = current }

        /// 1 at least: work that can't continue would block its caller for ever.
        var width: Int { max(1, current()) }
    }

    /// Nil for no limit. An object: optimised code of Swift 6.3 crashes when a closure itself is bound to a task.
    @TaskLocal public static var limit: Limit?
}
