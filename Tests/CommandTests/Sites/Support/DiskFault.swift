import Foundation
import Sampling
import Testing

/// One system call that fails in one command: the `number`th of its kind in a thread.
struct DiskFault: CustomStringConvertible {
    static let calls = [
        "pwrite64", "write", "fsync", "fdatasync", "syncfs", "renameat", "renameat2", "fallocate", "openat",
        "mkdirat", "symlinkat", "unlinkat", "ftruncate",
    ]

    let call: String
    let error: String
    let number: Int

    var wrapper: [String] { Sandbox.injecting("error=\(error)", into: call, number: number) }
    var description: String { "\(error) from \(call) \(number)" }

    /// The faults that a command can meet, by what it is seen to call: each call fails once, with each error. In a sample of
    /// every other kind one of the first, a middle and the last call fails, with one of the errors; where `contradictsRecord`, of the others.
    ///
    /// - Returns: the chosen ones, and the others in random order.
    static func all(
        countedIn log: String, contradictsRecord: Bool, for test: String
    ) -> (chosen: [DiskFault], others: [DiskFault]) {
        var counts: [String: [Substring: Int]] = [:]
        for line in log.split(separator: "\n") {
            let words = line.split(maxSplits: 1) { $0 == " " }
            guard words.count == 2, let end = words[1].firstIndex(of: "(") else { continue }
            let call = words[1][..<end].trimmingCharacters(in: .whitespaces)
            counts[call, default: [:]][words[0], default: 0] += 1
        }
        let errors = ["EIO", "ENOSPC"]
        let met = calls.compactMap { call in counts[call]?.values.max().map { (call: call, most: $0) } }
        let all = met.flatMap { call, most in
            (1...most).flatMap { number in
                errors.map { DiskFault(call: call, error: $0, number: number) }
            }
        }
        if Sampling.isWhole { return (all, []) }
        var random = SeededGenerator(for: test)
        let rest = (Sampling.seed + (contradictsRecord ? 1 : 0)) % 2
        let chosen = met.filter { UInt64(calls.firstIndex(of: $0.call) ?? 0) % 2 == rest }.map { call, most in
            let number = [1, (most + 1) / 2, most].randomElement(using: &random) ?? 1
            return DiskFault(call: call, error: errors.randomElement(using: &random) ?? "EIO", number: number)
        }
        return (chosen, all.shuffled(using: &random))
    }
}
