import Dispatch
import Synchronization

/// One reader of bytes from outside. It stops the program when a promise is broken; every other outcome is fine.
protocol FuzzTarget: Sendable {
    func read(_ input: [UInt8])
}

func require(_ condition: Bool, _ promise: @autoclosure () -> String) {
    guard condition else { fatalError("broken: \(promise())") }
}

/// Waits for asynchronous work: libFuzzer calls each input from one thread.
func wait(for work: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task {
        await work()
        done.signal()
    }
    done.wait()
}

/// The instructions that an input holds, byte by byte; zeros after its end.
struct InputReader {
    private var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) { rest = input[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> Int { Int(rest.popFirst() ?? 0) }
    mutating func word() -> Int { byte() << 8 | byte() }

    mutating func bytes(_ count: Int) -> [UInt8] {
        let taken = rest.prefix(count)
        rest = rest.dropFirst(taken.count)
        return Array(taken)
    }
}
