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
