import Foundation
import Sampling
import Testing

/// Wrappers that run a command with its own mounts, as root or where users can create namespaces, and wrappers that watch its system
/// calls or let some of them fail.
enum Sandbox {
    /// Starts a program with mounts of its own.
    static let namespace =
        geteuid() == 0 ? ["unshare", "--mount"] : ["unshare", "--map-root-user", "--mount"]

    /// Runs `setup`, which may mount, before the command and `after` behind it; the mounts vanish with both.
    static func mounting(_ setup: String, after: String = ":") -> [String] {
        namespace + Command.shell("\(setup) || exit 125; \"$@\"; code=$?; \(after); exit $code")
    }

    /// A file system of `size` bytes (`k`, `m`: KiB, MiB) at `folder`, whose names, kinds and bytes go to `listing`
    /// afterwards.
    static func smallDisk(_ size: String, at folder: String, listing: String, setup: String = ":") -> [String]
    {
        mounting(
            "{ mount -t tmpfs -o size=\(size) none '\(folder)' && cd '\(folder)' && \(setup); }",
            after: "{ find '\(folder)' -mindepth 1 -printf '%y %P\\n'; } > '\(listing)'")
    }

    /// `folder` as it is, but read-only.
    static func readOnly(_ folder: String) -> [String] {
        mounting("{ mount --bind '\(folder)' '\(folder)' && mount -o remount,ro,bind '\(folder)'; }")
    }

    /// Writes system calls to a log, all or those that touch one of these paths.
    static func tracing(_ calls: String, to log: String, on paths: String...) -> [String] {
        ["strace", "-f", "-qq", "-o", log] + paths.flatMap { ["-P", $0] } + ["-e", "trace=\(calls)"]
    }

    /// Injects a fault, such as `error=EIO` or `signal=KILL`, into the `number`th call that each thread makes of one
    /// system call. The calls go to `log`, with `(INJECTED)` at the end where it was injected.
    static func injecting(
        _ fault: String, into call: String, number: Int, log: String = "/dev/null"
    ) -> [String] {
        tracing(call, to: log) + ["-e", "inject=\(call):\(fault):when=\(number)"]
    }

    /// Injects a fault into all calls that touch one of these paths, or from the `first` one of each thread on.
    static func injecting(
        _ fault: String, into calls: String, on paths: String..., from first: Int = 1,
        log: String = "/dev/null"
    ) -> [String] {
        ["strace", "-f", "-qq", "-o", log] + paths.flatMap { ["-P", $0] }
            + ["-e", "inject=\(calls):\(fault):when=\(first)+"]
    }
}

/// Wrappers that end a command before its time.
enum Killing {
    /// SIGKILL after so many seconds; in the foreground, so that the end of the killed command is waited for.
    static func after(_ seconds: Double) -> [String] {
        ["timeout", "--foreground", "--preserve-status", "--signal=KILL", "\(seconds)"]
    }

    /// SIGKILL instead of the `number`th call of one system call in a thread.
    static func at(_ call: String, number: Int) -> [String] {
        Sandbox.injecting("signal=KILL", into: call, number: number)
    }

    /// Lets a command be killed at one call after the other, until it comes to its end. Returns how often it was killed.
    ///
    /// - Parameters:
    ///   - isAlwaysCalled: Whether every run makes the first of these calls.
    ///   - body: Runs the command through the wrapper, and looks at what is left.
    @discardableResult
    static func atEach(
        _ call: String, _ numbers: some Sequence<Int>, isAlwaysCalled: Bool = true,
        at location: SourceLocation = #_sourceLocation,
        _ body: (_ number: Int, _ wrapper: [String]) async throws -> CommandResult
    ) async throws -> Int {
        var kills = 0
        for number in numbers {
            let result = try await body(number, at(call, number: number))
            try #require(
                [0, 137].contains(result.exitCode), "\(result.errorText) \(call) \(number)",
                sourceLocation: location)
            guard result.exitCode == 137 else {
                let wasCalled = number > 1 || !isAlwaysCalled
                #expect(wasCalled, "\(call) was never called", sourceLocation: location)
                break
            }
            kills += 1
        }
        return kills
    }
}

/// Random moments at which commands are killed. How long a command takes was measured once, and a machine that does other things is
/// faster or slower later: where one ends before its moment, the next moments come earlier, so that some are killed on any machine.
struct RandomMoments {
    private let whole: Double
    private var pace = 1.0
    private var random: SeededGenerator

    init(within whole: Duration, for name: String) {
        self.whole = whole / .seconds(1)
        random = SeededGenerator(for: name)
    }

    /// In seconds.
    ///
    /// - Parameter parts: of the time that was measured.
    mutating func next(_ parts: ClosedRange<Double>) -> Double {
        Double.random(in: parts, using: &random) * whole * pace
    }

    mutating func note(wasKilled: Bool) { pace = wasKilled ? min(1, pace * 2) : pace / 2 }
}

/// Replaced functions of the C library.
enum PreloadedLibrary {
    /// A wrapper.
    static func through(_ source: String, in folder: some Workplace) async throws -> [String] {
        let library = folder["preloaded.so"]
        let file = try folder.write("preloaded.c", "#define _GNU_SOURCE\n" + source)
        try await Tool.run("clang", "-shared", "-fPIC", "-O1", "-Werror", "-o", library, file)
        return ["env", "LD_PRELOAD=\(library)"]
    }

    /// Every write of several bytes ends early, as the system is free to let it.
    static let shortWrites = """
        #include <unistd.h>
        #include <sys/syscall.h>
        static size_t part(size_t n) { return n > 1 ? n - n / 3 - 1 : n; }
        ssize_t write(int f, const void *b, size_t n) { return syscall(SYS_write, f, b, part(n)); }
        ssize_t pwrite64(int f, const void *b, size_t n, off_t o) {
            return syscall(SYS_pwrite64, f, b, part(n), o);
        }
        ssize_t pwrite(int f, const void *b, size_t n, off_t o) { return pwrite64(f, b, n, o); }
        """

    /// The file system of the folder WITHOUT_HOLES has none.
    static let withoutHoles = """
        #include <errno.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        off64_t lseek64(int f, off64_t o, int w) {
            char name[64], path[4097];
            const char *folder = getenv("WITHOUT_HOLES");
            if (w == SEEK_DATA || w == SEEK_HOLE) {
                snprintf(name, sizeof name, "/proc/self/fd/%d", f);
                ssize_t length = readlink(name, path, 4096);
                if (length < 0) abort();
                path[length] = 0;
                if (!strncmp(path, folder, strlen(folder))) { errno = EINVAL; return -1; }
            }
            return syscall(SYS_lseek, f, o, w);
        }
        off_t lseek(int f, off_t o, int w) { return lseek64(f, o, w); }
        """

    /// The save of a file system that is number SYNC_NUMBER of all threads fails. With RENAME_FROM it does not, but that file is renamed to
    /// RENAME_TO before it.
    static let failingFileSystemSync = """
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdarg.h>
        #include <stdatomic.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        static atomic_long count;
        // The program calls syncfs by its number.
        long syscall(long number, ...) {
            static long (*next)(long, ...);
            if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
            va_list list;
            va_start(list, number);
            long words[6];
            for (int i = 0; i < 6; i++) words[i] = va_arg(list, long);
            va_end(list);
            if (number == SYS_syncfs && ++count == atol(getenv("SYNC_NUMBER"))) {
                const char *from = getenv("RENAME_FROM");
                if (!from) { errno = EIO; return -1; }
                if (rename(from, getenv("RENAME_TO"))) abort();
            }
            return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
        }
        """

    /// Writes the path of each regular file that is synced to SYNC_LOG, and fails for the file that is number SYNC_NUMBER of all
    /// threads.
    static let failingSync = """
        #include <errno.h>
        #include <fcntl.h>
        #include <pthread.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static long count;
        int fsync(int f) {
            struct stat s;
            char name[64], path[4097];
            if (fstat(f, &s) || !S_ISREG(s.st_mode)) return syscall(SYS_fsync, f);
            snprintf(name, sizeof name, "/proc/self/fd/%d", f);
            ssize_t length = readlink(name, path, 4096);
            if (length < 0) abort();
            path[length++] = '\\n';
            pthread_mutex_lock(&lock);
            int log = open(getenv("SYNC_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
            if (log < 0 || write(log, path, length) != length) abort();
            close(log);
            int fails = ++count == atol(getenv("SYNC_NUMBER"));
            pthread_mutex_unlock(&lock);
            if (!fails) return syscall(SYS_fsync, f);
            errno = EIO;
            return -1;
        }
        """
}
