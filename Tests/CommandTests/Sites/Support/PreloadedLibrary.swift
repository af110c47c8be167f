import Testing

/// Replaced functions of the C library.
enum PreloadedLibrary {
    /// A wrapper.
    static func through(_ source: String, in folder: TemporaryFolder) async throws -> [String] {
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

    /// The time of day, and nothing else, is wrong by the days that stand in the file. (`faketime` puts timers off with
    /// it, also those of a clock that never jumps.)
    static func clock(wrongBy file: String) -> String {
        """
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>
        int clock_gettime(clockid_t c, struct timespec *t) {
            long result = syscall(SYS_clock_gettime, c, t);
            if (result || (c != CLOCK_REALTIME && c != CLOCK_REALTIME_COARSE)) return result;
            char text[32] = {0};
            int file = syscall(SYS_openat, AT_FDCWD, "\(file)", O_RDONLY, 0);
            if (file < 0 || read(file, text, 31) < 0) abort();
            close(file);
            t->tv_sec += atol(text) * 86400;
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
}
