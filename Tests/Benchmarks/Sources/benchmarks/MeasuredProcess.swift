import FoundationEssentials
import Glibc

/// What one run took.
struct Cost: Codable, Sendable {
    /// Seconds from start to end.
    var wall: Double
    /// Seconds on any core, in the program and in the kernel for it.
    var user: Double
    var system: Double
    /// Bytes of the process that held most; in a pipeline that is the largest, not the sum.
    var peakMemory: Int
    /// Bytes that it left behind.
    var output: Int = 0

    var cpu: Double { user + system }
}

/// Runs shell scripts as whole processes and asks the kernel what they took.
enum MeasuredProcess {
    /// Runs `script` in bash, where a pipeline fails with any of its parts. Standard output is thrown away; standard
    /// error goes to the file `errors`, since a progress bar on a terminal would cost time.
    static func run(_ script: String, environment: [String: String], errors: String) throws -> Cost {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o644)

        let arguments = unsafe CStrings(["bash", "-o", "pipefail", "-euc", script])
        let variables = unsafe CStrings(environment.map { "\($0)=\($1)" })
        defer {
            unsafe arguments.free()
            unsafe variables.free()
        }
        var process: pid_t = 0
        var status: Int32 = 0
        var usage = rusage()
        let start = ContinuousClock.now
        let problem = unsafe posix_spawn(
            &process, "/bin/bash", &actions, nil, arguments.pointers, variables.pointers)
        guard problem == 0 else { throw Failure("bash can't be started: error \(problem)") }
        while unsafe wait4(process, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw Failure("waiting failed: error \(errno)") }
        }
        let wall = ContinuousClock.now - start
        guard status == 0 else {
            let said = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
            throw Failure("failed with status \(status): \(script)\n\(said)")
        }
        return Cost(
            wall: wall / .seconds(1), user: usage.ru_utime.seconds, system: usage.ru_stime.seconds,
            peakMemory: usage.ru_maxrss * 1024)
    }
}

/// Why a benchmark could not be made.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// An array of C strings that ends in nil, as `posix_spawn` takes it.
@unsafe
private struct CStrings {
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ strings: [String]) { unsafe pointers = strings.map { unsafe strdup($0) } + [nil] }

    func free() {
        for index in unsafe pointers.indices { unsafe Glibc.free(pointers[index]) }
    }
}

extension timeval {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}
