import Foundation
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

    /// Whether every call is to fail once, with each error; else the first, a middle and the last one of each kind.
    static let areAllWanted = ProcessInfo.processInfo.environment["ASSETVAULT_ALL_FAULTS"] != nil

    /// The faults that a command can meet, by what it is seen to call.
    static func all(countedIn log: String) -> [DiskFault] {
        var counts: [String: [Substring: Int]] = [:]
        for line in log.split(separator: "\n") {
            let words = line.split(maxSplits: 1) { $0 == " " }
            guard words.count == 2, let end = words[1].firstIndex(of: "(") else { continue }
            let call = words[1][..<end].trimmingCharacters(in: .whitespaces)
            counts[call, default: [:]][words[0], default: 0] += 1
        }
        return calls.flatMap { call -> [DiskFault] in
            guard let most = counts[call]?.values.max() else { return [] }
            if areAllWanted {
                return (1...most).flatMap { number in
                    ["EIO", "ENOSPC"].map { DiskFault(call: call, error: $0, number: number) }
                }
            }
            return Set([1, (most + 1) / 2, most]).sorted().map {
                DiskFault(call: call, error: $0 % 2 == 0 ? "ENOSPC" : "EIO", number: $0)
            }
        }
    }
}
