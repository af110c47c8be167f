import VaultErrors

/// Runs `work` on several inputs at once and hands its results on in the order of the inputs.
///
/// At most `width` inputs are under way or waiting to be delivered, so memory is bounded however uneven the work.
/// `next` and `deliver` run one at a time, in the caller's task. The first error ends everything; it is the one of
/// the earliest input that failed.
func runInOrder<Input: Sendable, Output: Sendable>(
    width: Int = 8,
    next: () throws(VaultError) -> Input?,
    work: @escaping @Sendable (Input) throws(VaultError) -> Output,
    deliver: (Output) throws(VaultError) -> Void
) async throws(VaultError) {
    typealias Numbered = (number: Int, result: Result<Output, VaultError>)
    let outcome: Result<Void, VaultError> = await withTaskGroup(of: Numbered.self) { group in
        var started = 0
        var delivered = 0
        var waiting: [Int: Result<Output, VaultError>] = [:]
        do throws(VaultError) {
            while true {
                while started - delivered < width, let input = try next() {
                    if Task.isCancelled { throw VaultError.cancelled }
                    let number = started
                    started += 1
                    group.addTask {
                        (number, Result { () throws(VaultError) in try work(input) })
                    }
                }
                guard delivered < started, let done = await group.next() else { return .success(()) }
                waiting[done.number] = done.result
                while let result = waiting.removeValue(forKey: delivered) {
                    delivered += 1
                    try deliver(result.get())
                }
            }
        } catch {
            group.cancelAll()
            return .failure(error)
        }
    }
    try outcome.get()
}

extension VaultError {
    static var cancelled: VaultError {
        VaultError(.io, "the work was cancelled", at: "task", remedy: "start it again when it is wanted")
    }
}
