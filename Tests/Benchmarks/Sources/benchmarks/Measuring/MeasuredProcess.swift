import FoundationEssentials
import Glibc

/// The cost of one run.
struct Cost: Codable, Sendable {
    /// Seconds from start to end.
    var wall: Double
    /// Seconds on any core, in the program and in the kernel for it.
    var user: Double
    var system: Double
    /// Bytes of the process that held most; in a pipeline that is the largest, not the sum.
    var peakMemory: Int
    /// Bytes that it asked to read from files and pipes, from the cache or not; mapped files don't count.
    var read: Int
    /// Bytes that it asked to write to files and pipes.
    var written: Int
    /// Bytes that it left behind.
    var output: Int = 0
    /// Bytes that nginx sent meanwhile, heads included.
    var received: Int = 0

    var cpu: Double { user + system }
}

/// Runs shell scripts as whole processes and asks the kernel what they took.
enum MeasuredProcess {
    /// Runs `script` in bash, where a pipeline fails with any of its parts. Standard output is thrown away.
    static func run(_ script: String, environment: [String: String], errors: String) throws -> Cost {
        let before = transferred
        let start = ContinuousClock.now
        let process = try ChildProcess.start(
            ["/bin/bash", "-o", "pipefail", "-euc", script], environment: environment, errors: errors)
        var status: Int32 = 0
        var usage = rusage()
        while unsafe wait4(process, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw Failure("waiting failed: error \(errno)") }
        }
        let wall = ContinuousClock.now - start
        let after = transferred
        guard status == 0 else {
            let said = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
            throw Failure("failed with status \(status): \(script)\n\(said)")
        }
        return Cost(
            wall: wall / .seconds(1), user: usage.ru_utime.seconds, system: usage.ru_stime.seconds,
            peakMemory: usage.ru_maxrss * 1024, read: after.read - before.read,
            written: after.written - before.written)
    }

    /// Bytes that this process and those it has waited for, with theirs, asked to read and write: `rchar` and `wchar` of proc(5).
    private static var transferred: (read: Int, written: Int) {
        let text = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)) ?? ""
        func figure(_ name: String) -> Int {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
            return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
        }
        return (figure("rchar:"), figure("wchar:"))
    }
}

extension timeval {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}
