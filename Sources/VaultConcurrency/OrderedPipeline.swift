public import VaultErrors

/// The answer to a request for the next input.
public enum Supply<Input> {
    case input(Input)
    /// Nothing before more has been read.
    case later
    case end

    /// Nil is the end.
    public init(_ input: Input?) { self = input.map(Self.input) ?? .end }
}

/// Runs `work` on several inputs at once and hands its results on in the order of the inputs.
///
/// At most `width` inputs are under way or waiting to be delivered, and no more than take up the budget together,
/// but always one: so memory is bounded however uneven the work. `next`, which is not asked again after the end, and
/// `deliver` run one at a time, in the caller's task. The first error ends everything; it is the one of the earliest input
/// that failed.
///
/// - Parameters:
///   - budget: the bytes that the work on all inputs may take.
///   - read: what is done when `next` says `later`, before it is asked again: in a task of its own, so that what is done is
///     delivered however long it takes. It is cancelled when the pipeline ends.
///   - memory: the bytes that the work on an input takes at its most, roughly.
public func runInOrder<Input: Sendable, Output: Sendable>(
    width: Int = 8, budget: Int = 48 << 20,
    read: @escaping @Sendable () async -> Void = {},
    next: () async throws(VaultError) -> Supply<Input>,
    memory: (Input) -> Int,
    work: @escaping @Sendable (Input) async throws(VaultError) -> Output,
    deliver: (Output) async throws(VaultError) -> Void
) async throws(VaultError) {
    let outcome: Result<Void, VaultError> = await withTaskGroup(of: PipelineEvent<Output>.self) { group in
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
                budget.giveBackFirst()
                try await deliver(result.get())
            }
        }
        do throws(VaultError) {
            while true {
                while !isReading, started - delivered < width {
                    if Task.isCancelled { throw VaultError.cancelled("task") }
                    if pending == nil, !isAtEnd {
                        switch try await next() {
                        case .input(let input): pending = input
                        case .later:
                            isReading = true
                            group.addTask {
                                await read()
                                return .read
                            }
                            continue
                        case .end: isAtEnd = true
                        }
                    }
                    guard let input = pending, budget.take(memory(input)) else { break }
                    pending = nil
                    let number = started
                    started += 1
                    group.addTask {
                        do throws(VaultError) {
                            return .worked(number, .success(try await work(input)))
                        } catch {
                            return .worked(number, .failure(error))
                        }
                    }
                }
                guard isReading || delivered < started else { return .success(()) }
                try await receive()
            }
        } catch {
            group.cancelAll()
            return .failure(error)
        }
    }
    try outcome.get()
}

/// What a task of the pipeline has done.
private enum PipelineEvent<Output: Sendable>: Sendable {
    case worked(Int, Result<Output, VaultError>)
    case read
}

/// The memory that the inputs under way take, in their order.
private struct MemoryBudget {
    private let limit: Int
    private var taken: ArraySlice<Int> = []
    private var total = 0

    init(limit: Int) { self.limit = limit }

    mutating func take(_ bytes: Int) -> Bool {
        guard taken.isEmpty || bytes <= limit - total else { return false }
        taken.append(bytes)
        total += bytes
        return true
    }

    mutating func giveBackFirst() { total -= taken.removeFirst() }
}
