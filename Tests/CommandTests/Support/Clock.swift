import Foundation
import SystemPackage
import Testing

/// Wrappers whose command reads a wrong time of day. Nothing else changes: neither timers, nor the times of files.
enum Clock {
    /// A clock that is wrong by this many days.
    static func shifted(byDays days: Int) throws -> [String] {
        try ["env", "LD_PRELOAD=\(library.get())", "CLOCK_DAYS=\(days)"]
    }

    /// A clock that is wrong by the number of days in the file, also when that changes while the command runs.
    static func following(_ file: String) throws -> [String] {
        try ["env", "LD_PRELOAD=\(library.get())", "CLOCK_FILE=\(file)"]
    }

    /// The library is built once in each run of the tests, beside them. The rename keeps it whole for other runs.
    private static let library = Result {
        let library = try Command.debugPath.removingLastComponent().appending("test-clock.so").string
        let built = "\(library).\(ProcessInfo.processInfo.processIdentifier)"
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["clang", "-shared", "-fPIC", "-O1", "-Werror", "-x", "c", "-o", built, "-"]
        let input = Pipe()
        compiler.standardInput = input
        try compiler.run()
        try input.fileHandleForWriting.write(contentsOf: Data(source.utf8))
        try input.fileHandleForWriting.close()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0, "clang builds the clock")
        try #require(unsafe rename(built, library) == 0)
        return library
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>
        static long days(void) {
            const char *fixed = getenv("CLOCK_DAYS");
            if (fixed) return atol(fixed);
            char text[32] = {0};
            int file = syscall(SYS_openat, AT_FDCWD, getenv("CLOCK_FILE"), O_RDONLY, 0);
            if (file < 0 || read(file, text, 31) < 0) abort();
            close(file);
            return atol(text);
        }
        int clock_gettime(clockid_t c, struct timespec *t) {
            long result = syscall(SYS_clock_gettime, c, t);
            if (result || (c != CLOCK_REALTIME && c != CLOCK_REALTIME_COARSE)) return result;
            t->tv_sec += days() * 86400;
            return 0;
        }
        time_t time(time_t *t) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            if (t) *t = now.tv_sec;
            return now.tv_sec;
        }
        int gettimeofday(struct timeval *t, void *z) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            t->tv_sec = now.tv_sec;
            t->tv_usec = now.tv_nsec / 1000;
            return 0;
        }
        """
}
