import Glibc
import Synchronization
import Testing

@testable import VaultBase

/// Order, memory and errors of parallel work.
@Suite struct PipelineTests {
    private static let megabyte = 1 << 20

    /// Records what the pipeline does.
    private final class Watch: Sendable {
        struct Counts {
            var taken = 0
            var started = 0
            var delivered: [Int] = []
            /// The most inputs that were requested, or started, and not delivered.
            var mostTaken = 0
            var mostStarted = 0
        }

        private let counts = Mutex(Counts())
        var seen: Counts { counts.withLock { $0 } }

        func take() {
            counts.withLock {
                $0.taken += 1
                $0.mostTaken = max($0.mostTaken, $0.taken - $0.delivered.count)
            }
        }

        func start() {
            counts.withLock {
                $0.started += 1
                $0.mostStarted = max($0.mostStarted, $0.started - $0.delivered.count)
            }
        }

        func deliver(_ number: Int) { counts.withLock { $0.delivered.append(number) } }
    }

    /// Runs numbered inputs with the given memory sizes.
    private func run(
        _ memory: [Int], width: Int = 8,
        work: @escaping @Sendable (Int) throws(VaultError) -> Void = { _ in }
    ) async throws -> Watch.Counts {
        let watch = Watch()
        try await run(memory, width: width, watch, work: work)
        return watch.seen
    }

    private func run(
        _ memory: [Int], width: Int = 8, _ watch: Watch,
        work: @escaping @Sendable (Int) throws(VaultError) -> Void
    ) async throws {
        var numbers = memory.indices.makeIterator()
        try await runInOrder(
            width: width,
            next: { () throws(VaultError) -> NextInput<Int> in
                guard let number = numbers.next() else { return .end }
                watch.take()
                return .input(number)
            },
            memory: { memory[$0] },
            work: { (number: Int) throws(VaultError) -> Int in
                watch.start()
                try work(number)
                return number
            },
            deliver: { (number: Int) throws(VaultError) in watch.deliver(number) })
    }

    @Test(arguments: [1, 3, 8]) func inputsRunInParallelUpToTheWidth(width: Int) async throws {
        let seen = try await run([Int](repeating: 1, count: 100), width: width)
        #expect(seen.delivered == Array(0..<100))
        #expect(seen.mostStarted == width)
        // One more was requested, but is not started.
        #expect(seen.mostTaken == width + 1)
    }

    /// A sender is not kept waiting while what it sent is worked on: work on the first input ends only when more is read.
    @Test(.timeLimit(.minutes(1))) func readingGoesOnWhileAllWorkersAreBusy() async throws {
        let (reads, note) = AsyncStream.makeStream(of: Void.self)
        var hasRead = false
        var delivered: [Int] = []
        try await runInOrder(
            width: 1,
            read: { note.yield() },
            next: { () throws(VaultError) -> NextInput<Int> in
                guard hasRead else {
                    hasRead = true
                    return .input(1)
                }
                return delivered.isEmpty ? .readFirst : .end
            },
            memory: { _ in 1 },
            work: { (number: Int) async throws(VaultError) -> Int in
                for await _ in reads { break }
                return number
            }, deliver: { (number: Int) throws(VaultError) in delivered.append(number) })
        #expect(delivered == [1])
    }

    @Test func noInputsFinish() async throws {
        #expect(try await run([]).delivered == [])
    }

    /// `next` is not called again after the end, while work is running.
    @Test(arguments: [0, 1, 3, 8, 20]) func nextIsNotCalledAfterTheEnd(count: Int) async throws {
        var asked = 0
        var delivered: [Int] = []
        try await runInOrder(
            next: { () throws(VaultError) -> NextInput<Int> in
                asked += 1
                return asked <= count ? .input(asked) : .end
            },
            memory: { _ in 1 }, work: { (number: Int) throws(VaultError) -> Int in number },
            deliver: { (number: Int) throws(VaultError) in delivered.append(number) })
        #expect(asked == count + 1)
        #expect(delivered == Array(1..<(count + 1)))
    }

    /// Results are delivered while the next input is awaited, so that progress is visible.
    @Test func resultsAreDeliveredWhileNextWaits() async throws {
        var inputs = 0
        var delivered: [Int] = []
        var waits = 0
        try await runInOrder(
            next: { () throws(VaultError) -> NextInput<Int> in
                // Waits long enough for the work; the other inputs follow anyway.
                if delivered.count < inputs, inputs < 4, waits < 1_000_000 {
                    waits += 1
                    return .readFirst
                }
                guard inputs < 4 else { return .end }
                inputs += 1
                return .input(inputs)
            },
            memory: { _ in 1 }, work: { (number: Int) throws(VaultError) -> Int in number },
            deliver: { (number: Int) throws(VaultError) in
                delivered.append(number)
                // Only the last one is not awaited by `next`.
                if number < 4 { #expect(inputs == number) }
            })
        #expect(delivered == [1, 2, 3, 4])
    }

    /// The same for a stalled host: reading continues only after a delivery.
    @Test(.timeLimit(.minutes(1))) func resultsAreDeliveredWhileReadWaits() async throws {
        let (deliveries, note) = AsyncStream.makeStream(of: Int.self)
        var inputs = 0
        var delivered: [Int] = []
        try await runInOrder(
            read: {
                for await _ in deliveries { return }
            },
            next: { () throws(VaultError) -> NextInput<Int> in
                if delivered.count < inputs { return .readFirst }
                guard inputs < 4 else { return .end }
                inputs += 1
                return .input(inputs)
            },
            memory: { _ in 1 },
            work: { (number: Int) throws(VaultError) -> Int in
                // Ends only when the pipeline reads and waits.
                usleep(20_000)
                return number
            },
            deliver: { (number: Int) throws(VaultError) in
                delivered.append(number)
                note.yield(number)
            })
        #expect(delivered == [1, 2, 3, 4])
    }

    /// An error ends a read that would never return.
    @Test(.timeLimit(.minutes(1))) func errorsCancelRead() async throws {
        var inputs = 0
        let error = await #expect(throws: VaultError.self) {
            try await runInOrder(
                read: { try? await Task.sleep(for: .seconds(3600)) },
                next: { () throws(VaultError) -> NextInput<Int> in
                    inputs += 1
                    return inputs == 1 ? .input(1) : .readFirst
                },
                memory: { _ in 1 },
                work: { (number: Int) throws(VaultError) -> Int in
                    throw VaultError(.corrupt, "bad", at: "\(number)", remedy: "none")
                }, deliver: { (_: Int) in })
        }
        #expect(error?.problem == "bad")
    }

    /// A piece of 16 MiB needs three times its size: ciphertext, frame and plaintext.
    @Test func inputsOverTheBudgetRunAlone() async throws {
        for memory in [3 * 16 * Self.megabyte, 3 * 17 * Self.megabyte, .max] {
            let seen = try await run([Int](repeating: memory, count: 40))
            #expect(seen.delivered == Array(0..<40))
            #expect(seen.mostStarted == 1)
            // The next one was requested, but is not started.
            #expect(seen.mostTaken == 2)
        }
    }

    /// The sum stays below the budget for any order of large and small inputs.
    @Test func memoryStaysBelowTheBudget() async throws {
        let memory = (0..<200).map { ($0 * 7 % 13 + 1) * 3 * Self.megabyte }
        let live = Mutex(0)
        let most = Mutex(0)
        let watch = Watch()
        var numbers = memory.indices.makeIterator()
        try await runInOrder(
            next: { () throws(VaultError) -> NextInput<Int> in NextInput(numbers.next()) },
            memory: { memory[$0] },
            work: { (number: Int) throws(VaultError) -> Int in
                let now = live.withLock { live in
                    live += memory[number]
                    return live
                }
                most.withLock { $0 = max($0, now) }
                return number
            },
            deliver: { (number: Int) throws(VaultError) in
                live.withLock { $0 -= memory[number] }
                watch.deliver(number)
            })
        #expect(watch.seen.delivered == Array(0..<200))
        #expect(most.withLock { $0 } <= 48 * Self.megabyte)
    }

    /// Earlier inputs are delivered, whichever fails first.
    @Test(arguments: [1, 24 << 20, 48 << 20]) func earliestInputsErrorIsThrown(memory: Int) async throws {
        for _ in 0..<50 {
            let watch = Watch()
            let error = await #expect(throws: VaultError.self) {
                try await run([Int](repeating: memory, count: 20), watch) { number throws(VaultError) in
                    guard number >= 5 else { return }
                    throw VaultError(.corrupt, "bad", at: "\(number)", remedy: "none")
                }
            }
            #expect(error?.place == "5")
            #expect(watch.seen.delivered == Array(0..<5))
        }
    }
}
